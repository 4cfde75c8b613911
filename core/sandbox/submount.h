/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is mounted below a directory, as proc_pid_mountinfo(5) tells the calling
 * process. For looking at, and for naming what can't be done: mounts come and
 * go.
 */
#ifndef LLMBOX_SUBMOUNT_H
#define LLMBOX_SUBMOUNT_H

/*
 * Calls visit with each mount below dir (a real path, not dir itself): its path
 * below dir and the type of its filesystem. Stops where that does not return 0.
 * That value; 0 at the end; -errno where the mounts can't be read.
 */
int submounts_visit(const char *dir,
		    int (*visit)(void *data, const char *path,
				 const char *type),
		    void *data);

#endif
