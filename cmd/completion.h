/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Completions are scripts made from the tables, so that they know exactly the
 * verbs and options of this program. Each function appends a whole script.
 */
#ifndef LLMBOX_CMD_COMPLETION_H
#define LLMBOX_CMD_COMPLETION_H

#include <stdbool.h>
#include <stddef.h>

struct buf;
struct option_info;
struct verb;

void completion_bash(struct buf *out);
void completion_zsh(struct buf *out);
void completion_fish(struct buf *out);

/* Is the table's row one of verb's options? */
bool completion_offers(const struct verb *verb, const struct option_info *o);

/* The first word of verb's name, owned, where it is the first verb with it;
 * else NULL. *ret_group: whether a second word follows. */
char *completion_first_word(size_t index, bool *ret_group);

/* Appends text for a place between single quotes: in POSIX shells and zsh a
 * quote is '\'', in fish \'. */
void completion_quote(struct buf *out, const char *text, const char *quote);

#endif
