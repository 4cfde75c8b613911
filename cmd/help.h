/* SPDX-License-Identifier: Apache-2.0 */
/* Help, made from the tables. Each goes to stdout; returns the exit status. */
#ifndef LLMBOX_CMD_HELP_H
#define LLMBOX_CMD_HELP_H

struct verb;

int help_general(void);
int help_group(const char *group);
int help_verb(const struct verb *verb);

#endif
