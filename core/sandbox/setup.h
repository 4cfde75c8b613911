/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Private to sandbox/: what outer, init and the steps of set-up share. The
 * order of the steps is the table in init.c, and core/README tells why it is
 * so.
 */
#ifndef LLMBOX_SETUP_H
#define LLMBOX_SETUP_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "sandbox/message.h"
#include "sandbox/plan.h"

/*
 * A page that supervisor, outer, init and a command before its exec share. Each
 * field has one writer; nothing of the box can reach it (it is never inherited
 * through exec, and none of these processes is dumpable inside the box).
 */
struct shared {
	volatile pid_t init; /* outer's clone: the number in the host's ids */
	volatile int sysfs;  /* outer writes: init's inherited descriptor; -1 */
	volatile int failed; /* outer writes: errno of the step below */
	const char *volatile step;
	/* A command that could not be executed writes these; init reads them
	 * when it ended. */
	volatile int exec_failed; /* errno */
	volatile bool exec_setup; /* before execve(2): llmbox's own failure */
	char exec_reason[MESSAGE_TEXT_MAX];
};

enum {
	SETUP_MOUNTS_MAX = MESSAGE_FDS_MAX - 2, /* beside lower and disk */
	SETUP_OWN_MOUNTS_MAX = SETUP_MOUNTS_MAX + 16, /* and those of all */
};

/* Descriptors are -1 where there is none. */
struct setup {
	const struct plan *plan;
	struct shared *shared;
	int socket;            /* init's end */
	int supervisor_socket; /* the other; closed in outer */
	int go[2];             /* supervisor to outer: U1's maps are written */
	int ready[2];          /* outer to init: U2's maps are written */
	int stdio[3];          /* the command's; -1: from the pty */
	int sysfs;             /* detached mount */
	int lower;             /* the tree */
	int disk;              /* detached mount of the disk directory */
	int sources[SETUP_MOUNTS_MAX];    /* detached mounts, as the plan's */
	int root;                         /* the box's root before pivot_root */
	int upper;                        /* of the root */
	int project_upper, project_lower; /* of -C with overlay */
	int scratch;                      /* the tmpfs with upper, /tmp, ... */
	int etc;                          /* the box's /etc */
	int devpts;                       /* root of the box's own devpts */
	int *kept; /* open until init ends: it holds them locked */
	size_t kept_count;
	int listener[2]; /* command to init: what the filter hands over */
	/* Mounts that are the box's own, by STATX_MNT_ID: on all others setuid
	 * bits would be somebody else's too (notify_mode.c). */
	uint64_t own_mounts[SETUP_OWN_MOUNTS_MAX];
	size_t own_mount_count;
	char detail[MESSAGE_TEXT_MAX - 32]; /* what a failing step worked on */
};

/* A step: 0 or -errno, with the object in detail where the name of the step
 * does not say it. */
typedef int setup_step(struct setup *s);

/* Notes the object and returns -errno (of the variable). */
int setup_fail(struct setup *s, const char *format, ...)
	__attribute__((format(printf, 2, 3), cold));

/* setup_process.c: what init is and holds */
setup_step setup_maps, setup_ids, setup_parent, setup_descriptors;
/* setup_volumes.c */
setup_step setup_sources, setup_volumes, setup_workdir;
/* setup_protect.c */
setup_step setup_protect;
/* setup_search.c: a part of it; volume is the mounted one */
int setup_search(struct setup *s, const struct plan_mount *m, int volume);
/* setup_root.c */
setup_step setup_scratch, setup_root, setup_pivot;
/* setup_made.c: files and directories that every box has, and the host view */
setup_step setup_made, setup_host_view;
/* setup_kernel.c: /proc, /sys, /dev, /tmp and their like */
setup_step setup_proc, setup_masks, setup_dev, setup_devpts, setup_writable,
	setup_sys;
/* setup_rights.c */
setup_step setup_names, setup_keyring, setup_bounding, setup_landlock,
	setup_filter;

/* ---- small ones for the steps (setup.c); 0 or -errno ---- */

/* mkdirat(2), where an existing directory is right. */
int setup_mkdir(int dirfd, const char *path, mode_t mode);
/* A new regular file with this content. */
int setup_write(int dirfd, const char *path, const char *text, mode_t mode);
/*
 * Binds path over itself with MOUNT_ATTR_... that are there before the mount
 * can be seen.
 */
int setup_bind_over_itself(const char *path, uint64_t attributes);
/* Where upper and work directories of overlays lie, as a path. */
const char *setup_uppers(const struct setup *s);
/* Puts a detached mount on what target (O_PATH) is. */
int setup_attach(int mount, int target);
/* Clones the mount at fd with what is below it and puts that over fd itself,
 * with these MOUNT_ATTR_... */
int setup_cover_with_itself(int fd, uint64_t attributes);
/* Something empty and read-only over fd: a directory over a directory, a file
 * over anything else. */
int setup_cover_with_nothing(struct setup *s, int fd);
bool setup_is_mount_point(int fd);
/* Leaves fd open for as long as init lives. */
void setup_keep(struct setup *s, int fd);

/*
 * Notes that the mount of dirfd and path ("": of dirfd itself) is one that the
 * box has for itself alone. What is not noted counts as a volume.
 */
void setup_own_mount(struct setup *s, int dirfd, const char *path);
/* Is fd on such a mount? */
bool setup_is_own_mount(const struct setup *s, int fd);

/* ---- the processes ---- */

/* In U1: makes init. 0 or -errno with shared->step. */
int outer_main(struct setup *s);
/* In U2, pid 1. */
void init_main(struct setup *s) __attribute__((noreturn));
/*
 * The command's process, after fork or vfork. memory is init's, made before the
 * fork, since after a vfork none may be taken.
 */
struct command_memory;
struct command_memory *command_memory_new(const struct plan *plan);
void command_main(struct setup *s, const int stdio[3],
		  struct command_memory *memory) __attribute__((noreturn));

/* Counts what differs between an upper directory and its lower (-1: nothing);
 * bounded. */
void changes_count(int upper, int lower, struct box_changes *ret);

#endif
