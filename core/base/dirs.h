/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where llmbox keeps things, by the XDG base directory specification; for host
 * root the system's places. All are absolute and owned by the caller of the
 * function, NULL where the environment names none (no HOME).
 */
#ifndef LLMBOX_DIRS_H
#define LLMBOX_DIRS_H

struct error;

char *dirs_data(void);   /* $XDG_DATA_HOME/llmbox; root: /var/lib/llmbox */
char *dirs_state(void);  /* $XDG_STATE_HOME/llmbox; root: .../state */
char *dirs_config(void); /* $XDG_CONFIG_HOME/llmbox; root: /root's as others' */
char *dirs_runtime(void); /* $XDG_RUNTIME_DIR/llmbox; root: /run/llmbox */

/*
 * Opens (O_PATH) an own directory, made with mode 0700 where it is missing
 * (parents too). Refused (ERROR_STATE) when it belongs to somebody else, is a
 * symbolic link, or others may enter or write it: what lies in it may carry
 * setuid bits of the box.
 */
int dirs_open_private(const char *path, struct error *err);

#endif
