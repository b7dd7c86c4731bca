/* util - scope-bound cleanup, explicit hand-over of ownership, small macros. */
/* SPDX-License-Identifier: MIT */
#include "core/base/util.h"

#include <errno.h>
#include <stdarg.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static void (*oom_hook)(void);

void util_free_ptr(void *pp)
{
	void **p = pp;

	free(*p);
	*p = NULL;
}

void util_free_list(char ***list)
{
	for (char **one = *list; one && *one; one++)
		free(*one);
	free(take_ptr(list));
}

int util_exit_code(int wait_status)
{
	return WIFSIGNALED(wait_status) ? 128 + WTERMSIG(wait_status) : WEXITSTATUS(wait_status);
}

size_t util_list_len(const void *list)
{
	const void *const *p = list;
	size_t n = 0;

	while (p && p[n])
		n++;
	return n;
}

char **util_list_copy(const char *const *list)
{
	size_t n = util_list_len(list);
	char **copy = xcalloc(n + 1, sizeof(*copy));

	while (n-- > 0)
		copy[n] = xstrdup(list[n]);
	return copy;
}

void util_list_push(char ***list, size_t *n, char *s)
{
	*list = xrealloc(*list, (*n + 2) * sizeof(**list));
	(*list)[(*n)++] = s;
	(*list)[*n] = NULL;
}

int util_by_text(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

void util_close_fd(int *fd)
{
	int saved = errno;

	if (*fd >= 0)
		close(*fd);
	*fd = -1;
	errno = saved;
}

void util_close_file(FILE **file)
{
	int saved = errno;

	if (*file)
		fclose(*file);
	*file = NULL;
	errno = saved;
}

void util_close_dir(DIR **dir)
{
	int saved = errno;

	if (*dir)
		closedir(*dir);
	*dir = NULL;
	errno = saved;
}

void util_set_oom_hook(void (*hook)(void))
{
	oom_hook = hook;
}

static void *or_die(void *p)
{
	static const char msg[] =
		"cordon: out of memory: the kernel refused an allocation: free some "
		"memory and start again\n";

	if (p)
		return p;
	if (oom_hook)
		oom_hook();
	if (write(STDERR_FILENO, msg, sizeof(msg) - 1) < 0)
		_exit(125);
	abort();
}

void *xmalloc(size_t size)
{
	return or_die(malloc(size ? size : 1));
}

void *xcalloc(size_t n, size_t size)
{
	return or_die(calloc(n ? n : 1, size ? size : 1));
}

void *xrealloc(void *p, size_t size)
{
	return or_die(realloc(p, size ? size : 1));
}

char *xstrdup(const char *s)
{
	return s ? or_die(strdup(s)) : NULL;
}

char *xstrndup(const char *s, size_t n)
{
	return or_die(strndup(s, n));
}

char *xasprintf(const char *fmt, ...)
{
	va_list ap;
	char *s = NULL;
	int n;

	va_start(ap, fmt);
	n = vasprintf(&s, fmt, ap);
	va_end(ap);
	return or_die(n < 0 ? NULL : s);
}

bool str_eq(const char *a, const char *b)
{
	return a == b || (a && b && strcmp(a, b) == 0);
}

bool str_one_of(const char *s, const char *const *list)
{
	for (; list && *list; list++)
		if (str_eq(s, *list))
			return true;
	return false;
}

bool str_sets_same(const char *setting, const char *const *list)
{
	size_t len = strcspn(setting, "=") + 1;

	for (; list && *list; list++)
		if (strncmp(setting, *list, len) == 0)
			return true;
	return false;
}

bool str_starts(const char *s, const char *prefix)
{
	return strncmp(s, prefix, strlen(prefix)) == 0;
}

bool str_ends(const char *s, const char *suffix)
{
	size_t n = strlen(s), m = strlen(suffix);

	return n >= m && memcmp(s + n - m, suffix, m) == 0;
}
