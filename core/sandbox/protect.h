/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How the protected names of a volume are to be held, decided on the host
 * before anything is made. A name becomes steps: each directory above it is
 * pinned, each symbolic link on the way is held itself, what is at the end is
 * read-only, and what is missing is made as an empty directory, a placeholder
 * (placeholder.h), for only what exists can be a mount point.
 */
#ifndef LLMBOX_PROTECT_H
#define LLMBOX_PROTECT_H

#include <stdbool.h>
#include <stddef.h>

struct error;
struct strv;

enum protect_action {
	PROTECT_PIN,  /* a directory: neither renamed nor removed */
	PROTECT_HOLD, /* read-only with all below it */
	PROTECT_LINK, /* a symbolic link: stays what it is */
};

struct protect_step {
	enum protect_action action;
	bool missing; /* a placeholder, made by init */
	char *path;   /* below the volume's source, without any link */
	char *link;   /* PROTECT_LINK: where it leads */
};

struct protect {
	struct protect_step *steps; /* parents before children */
	size_t count;
};

/*
 * Adds the steps of each name below dir ("", or a directory below the source).
 * Names are followed as a program of the host would, as long as that stays
 * below the source, which volume (O_PATH) is. ERROR_POLICY where a name can't
 * be looked at, or is all of the volume.
 */
int protect_plan(const char *source, int volume, const char *dir,
		 const struct strv *names, struct protect *ret,
		 struct error *err);
void protect_release(struct protect *p);

#endif
