/* text - functions of <string.h> that not every system has. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include <string.h>

/* Returns words for an error number: a constant, or text in `out`. */
#ifdef __linux__
static inline const char *os_strerror(int code, char *out, size_t size)
{
	return strerror_r(code, out, size);
}
/* Returns the name of an error, "ENOENT"; NULL: unknown. */
static inline const char *os_error_name(int code)
{
	return strerrorname_np(code);
}
#else
static inline const char *os_strerror(int code, char *out, size_t size)
{
	return strerror_r(code, out, size) == 0 ? out : "unknown error";
}
static inline const char *os_error_name(int code)
{
	(void)code;
	return NULL;
}

static inline void explicit_bzero(void *s, size_t n)
{
	memset(s, 0, n);
	__asm__ volatile("" : : "r"(s) : "memory"); /* marks the bytes as read */
}

static inline void *memrchr(const void *s, int c, size_t n)
{
	const char *at = s;

	while (n-- > 0)
		if (at[n] == (char)c)
			return (char *)(size_t)(at + n);
	return NULL;
}

static inline char *strchrnul(const char *s, int c)
{
	char *at = strchr(s, c);

	return at ? at : (char *)(size_t)(s + strlen(s));
}
#endif
