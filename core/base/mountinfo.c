/* mountinfo - what is mounted where, as /proc/self/mountinfo tells it. */
/* SPDX-License-Identifier: MIT */
#include "core/base/mountinfo.h"

#include <fcntl.h>
#include <string.h>

#include "core/base/io.h"

#define MOUNTINFO_MAX (4u << 20)

char *mountinfo_read(void)
{
	AUTO_CLOSE int fd = open("/proc/self/mountinfo", O_RDONLY | O_CLOEXEC);
	AUTO_FREE char *text = NULL;
	size_t len;

	if (fd < 0 || io_read_all(fd, MOUNTINFO_MAX, &text, &len) < 0)
		return NULL;
	return take_ptr(&text);
}

/* Blanks, tabs, newlines and backslashes are written as \ooo. */
static void decode(char *s)
{
	char *out = s;

	for (; *s; s++) {
		if (s[0] == '\\' && s[1] >= '0' && s[1] <= '3' && s[2] && s[3]) {
			*out++ = (char)((s[1] - '0') * 64 + (s[2] - '0') * 8 + (s[3] - '0'));
			s += 3;
		} else {
			*out++ = *s;
		}
	}
	*out = '\0';
}

/* "36 35 98:0 /root /mount/point options - type source ...". */
static bool take(char *line, struct mount_line *ret)
{
	char *dash = strstr(line, " - "), *at = line;

	for (int i = 0; at && i < 4; i++)
		at = strchr(at + (i > 0), ' ');
	if (!dash || !at || at > dash)
		return false;
	ret->type = dash + 3;
	ret->type[strcspn(ret->type, " ")] = '\0';
	ret->point = at + 1;
	ret->point[strcspn(ret->point, " ")] = '\0';
	decode(ret->point);
	return ret->point[0] == '/';
}

bool mountinfo_next(char **at, struct mount_line *ret)
{
	while (*at && **at) {
		char *line = *at, *end = strchr(line, '\n');

		*at = end ? end + 1 : NULL;
		if (end)
			*end = '\0';
		if (take(line, ret))
			return true;
	}
	return false;
}
