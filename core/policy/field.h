/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Between the files of core/policy only: the table of fields, what a type of
 * field can do, and how errors of a policy file are told.
 */
#ifndef LLMBOX_FIELD_H
#define LLMBOX_FIELD_H

#include <stddef.h>

#include "base/json.h"
#include "policy/policy.h"

struct error;
struct field;

/* What is being read: a file, or one option. */
struct source {
	struct origin origin;
	const char *base; /* for relative paths; NULL: the working directory */
};

struct loader {
	struct policy *policy;
	struct source source;
	struct error_list *errors;
	size_t failed; /* errors of this file */
};

struct field_type {
	const char *name; /* as policy_field_info's */
	/* The value of a file. Errors go to the loader. */
	void (*load)(struct loader *l, const struct field *f,
		     const struct json *value);
	/* An option's text; NULL: this field has a function of its own. */
	int (*set)(struct policy *p, const struct field *f,
		   const struct source *s, const char *text, struct error *err);
	/* As a file would have it; null where it is not set. */
	void (*write)(const struct policy *p, const struct field *f,
		      struct json_writer *w);
	/* The members of the field's JSON Schema, but for its description. */
	void (*schema)(const struct field *f, struct json_writer *w);
	/* Numbers only. */
	int (*parse)(const char *text, int64_t *ret, struct error *err);
	char *(*format)(int64_t value);
};

/* How the ceiling bounds a field. */
enum ceiling {
	CEILING_NONE,   /* it can't: a ceiling that has the field is an error */
	CEILING_MOST,   /* numbers, and choices by their rank */
	CEILING_SAME,   /* the policy may only repeat it */
	CEILING_SUBSET, /* lists: nothing that the ceiling does not have */
	CEILING_UNION,  /* lists: the ceiling's come on top */
};

struct field {
	struct policy_field_info info;
	const struct field_type *type;
	size_t offset;    /* in struct policy */
	int64_t min, max; /* numbers */
	/* Choices: NULL-terminated, in the order of the enum; rank: the higher
	 * the looser, NULL: as the enum. */
	const char *const *choices;
	const unsigned char *rank;
	/* Strings and elements of lists: checks the text and makes the owned
	 * value of it, which may be NULL. */
	int (*clean)(const struct source *s, const char *text, char **ret,
		     struct error *err);
	enum ceiling ceiling;
};

/* fields.c */
extern const struct field fields[];
extern const size_t field_count;
extern const char *const access_names[];
const struct field *field_find(const char *name);
size_t field_index(const struct field *f);
void *field_at(const struct policy *p, const struct field *f);
/* Nobody set it and it has no default: a limit without bound, no workdir. */
bool field_is_empty(const struct policy *p, const struct field *f);

/* values.c, maps.c, mounts.c */
extern const struct field_type type_size, type_time, type_count, type_number;
extern const struct field_type type_choice, type_string, type_user, type_list;
extern const struct field_type type_env, type_route, type_ulimit, type_mounts;
/* The index in a NULL-terminated list, or -1 after error_set. */
int choice_parse(const char *const *choices, const char *text,
		 struct error *err);

/* clean.c, rules.c */
int clean_image(const struct source *s, const char *text, char **ret,
		struct error *err);
int clean_workdir(const struct source *s, const char *text, char **ret,
		  struct error *err);
int clean_user(const struct source *s, const char *text, char **ret,
	       struct error *err);
int clean_hostname(const struct source *s, const char *text, char **ret,
		   struct error *err);
int clean_env_name(const struct source *s, const char *text, char **ret,
		   struct error *err);
int clean_syscall(const struct source *s, const char *text, char **ret,
		  struct error *err);
int clean_guarantee(const struct source *s, const char *text, char **ret,
		    struct error *err);
int clean_target(const char *text, char **ret, struct error *err);
/* RFC 1123: letters, digits and "-", in labels joined by dots. */
bool is_host_name(const char *text, size_t len);
/* An existing or future file of the host, absolute and normal. */
int clean_source(const struct source *s, const char *text, char **ret,
		 struct error *err);
int clean_allow(const struct source *s, const char *text, char **ret,
		struct error *err);
int clean_publish(const struct source *s, const char *text, char **ret,
		  struct error *err);
int route_check(const char *from, const char *to, struct error *err);

/* load.c: errors of a file, at a value's place. */
void load_fail(struct loader *l, const struct json *at, const char *name,
	       const char *format, ...)
	__attribute__((format(printf, 4, 5), cold));
void load_hint(struct loader *l, const char *format, ...)
	__attribute__((format(printf, 2, 3), cold));
/* As load_fail, of an error that says what, but not where. */
void load_error(struct loader *l, const struct json *at, const char *name,
		const struct error *err) __attribute__((cold));
/* "NAME must be WHAT, not true" */
void load_type_error(struct loader *l, const struct json *at, const char *name,
		     const char *what) __attribute__((cold));
/* keys: those that could stand here, NULL-terminated. */
void load_unknown_key(struct loader *l, const struct json *key,
		      const char *where, const char *const *keys)
	__attribute__((cold));
/* "$schema" and "comment" may stand in every object. */
bool load_is_note(struct loader *l, const struct json *key,
		  const struct json *value);
struct origin load_origin(const struct loader *l, const struct json *at);

/* policy.c */
void policy_set_origin(struct policy *p, const struct field *f,
		       const struct origin *origin);
/* A source of one option; its name is the policy's from now on. */
struct source source_of_option(struct policy *p, const char *option);
void policy_mount_release(struct policy_mount *m);

/* values.c */
void size_schema(struct json_writer *w, int64_t min, int64_t max);

/* mounts.c */
#define MOUNT_SIZE_MIN INT64_C(4096)
#define MOUNT_SIZE_MAX (INT64_C(1) << 50)
void mounts_load(struct loader *l, const struct field *f,
		 const struct json *value);

/* finish.c: an error of what one origin asked for. */
int origin_error(struct error *err, const struct origin *o, const char *format,
		 ...) __attribute__((format(printf, 3, 4), cold));
/* "FILE:3:5", "-m" or "built-in"; owned. */
char *origin_format(const struct origin *o);
/* ceiling.c; a ceiling file that does not exist bounds nothing. */
int ceiling_apply(struct policy *p, const char *file, struct error *err);

#endif
