/* SPDX-License-Identifier: Apache-2.0 */
/* Paths in mountinfo have blanks, newlines and backslashes as \ooo. */
#include "sandbox/submount.h"

#include <fcntl.h>
#include <stddef.h>
#include <string.h>

#include "base/buf.h"
#include "base/fd.h"
#include "base/path.h"

enum { MOUNTINFO_MAX = 16 << 20, FIELD_PATH = 4 };

static void unescape(char *text)
{
	char *to = text;

	for (char *p = text; *p; p++) {
		if (p[0] == '\\' && strspn(p + 1, "01234567") >= 3) {
			*to++ = (char)((p[1] - '0') << 6 | (p[2] - '0') << 3 |
				       (p[3] - '0'));
			p += 3;
		} else {
			*to++ = *p;
		}
	}
	*to = '\0';
}

/* "36 35 98:0 /root /mnt rw,noatime master:1 - ext3 /dev/root rw" */
static char *take_path(char *line, const char **ret_type)
{
	char *end = strstr(line, " - "), *path = line, *save = NULL;

	if (!end)
		return NULL;
	*end = '\0';
	end += strlen(" - ");
	end[strcspn(end, " ")] = '\0';
	*ret_type = end;
	path = strtok_r(line, " ", &save);
	for (int i = 0; path && i < FIELD_PATH; i++)
		path = strtok_r(NULL, " ", &save);
	if (path)
		unescape(path);
	return path;
}

int submounts_visit(const char *dir,
		    int (*visit)(void *data, const char *path,
				 const char *type),
		    void *data)
{
	auto_buf text = { 0 };
	char *save = NULL;
	int r = file_read(AT_FDCWD, "/proc/self/mountinfo", MOUNTINFO_MAX,
			  &text);

	if (r < 0 || !text.data)
		return r;
	for (char *line = strtok_r(text.data, "\n", &save); r == 0 && line;
	     line = strtok_r(NULL, "\n", &save)) {
		const char *type;
		const char *path = take_path(line, &type);

		if (!path || !path_is_below(path, dir) ||
		    strcmp(path, dir) == 0)
			continue;
		r = visit(data, path + (dir[1] ? strlen(dir) + 1 : 1), type);
	}
	return r;
}
