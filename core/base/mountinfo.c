/* mountinfo - parses /proc/self/mountinfo. */
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

/* Decodes blanks, tabs, newlines and backslashes, which are written as \ooo. */
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

/* Returns the word after n others, and cuts off the rest. Empty: there are not so many. */
static char *word(char *at, int n)
{
	for (; n > 0; n--) {
		at += strcspn(at, " ");
		at += *at == ' ';
	}
	at[strcspn(at, " ")] = '\0';
	return at;
}

/* Parses "36 35 98:0 /root /mount/point options - type source options". */
static bool take(char *line, struct mount_line *ret)
{
	char *dash = strstr(line, " - ");

	if (!dash)
		return false;
	*dash = '\0';
	ret->options = word(dash + 3, 2);
	ret->type = word(dash + 3, 0);
	ret->point = word(line, 4);
	ret->root = word(line, 3);
	decode(ret->point);
	decode(ret->root);
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
