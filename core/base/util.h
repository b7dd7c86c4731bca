/* util - scope-bound cleanup, explicit hand-over of ownership, small macros. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include <dirent.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/types.h>

#define CLEANUP(fn)	  __attribute__((cleanup(fn)))
#define PRINTF_LIKE(f, a) __attribute__((format(printf, f, a)))
#define MUST_USE	  __attribute__((warn_unused_result))
#define NORETURN	  __attribute__((noreturn))
#define UNUSED		  __attribute__((unused))

/*
 * Declare owned things at the top of the function with one of these and initialise them empty
 * (NULL or -1); the scope's end releases them on every path. take_ptr() and take_fd() hand over.
 */
#define AUTO_FREE  CLEANUP(util_free_ptr)
#define AUTO_CLOSE CLEANUP(util_close_fd)
#define AUTO_FILE  CLEANUP(util_close_file)
#define AUTO_DIR   CLEANUP(util_close_dir)

#define ARRAY_LEN(a) (sizeof(a) / sizeof((a)[0]))
#undef MIN /* some systems have the same two */
#undef MAX
#define MIN(a, b) ((a) < (b) ? (a) : (b))
#define MAX(a, b) ((a) > (b) ? (a) : (b))

void util_free_ptr(void *pp);		/* pp is the address of a pointer */
void util_free_list(char ***list);	/* heap strings, NULL-terminated; NULL is a no-op */
size_t util_list_len(const void *list); /* NULL-terminated pointers; NULL: 0 */
/* Returns a copy of a list and its strings. NULL is copied as an empty list. */
char **util_list_copy(const char *const *list) MUST_USE;
/* Appends s, which the list takes over. *n: the number of strings. */
void util_list_push(char ***list, size_t *n, char *s);
int util_by_text(const void *a, const void *b); /* for qsort(3) of a list of strings */
void util_close_fd(int *fd);			/* keeps errno; -1 is a no-op */
void util_close_file(FILE **file);		/* keeps errno; NULL is a no-op */
void util_close_dir(DIR **dir);			/* keeps errno; NULL is a no-op */

/* Hands over ownership: empties the variable and returns its value. */
static inline int take_fd(int *fd)
{
	int v = *fd;

	*fd = -1;
	return v;
}

static inline void *take_ptr_at(void *pp)
{
	void **p = pp;
	void *v = *p;

	*p = NULL;
	return v;
}
#define take_ptr(pp) take_ptr_at(pp)

/*
 * Allocates, and never fails: without memory it calls the hook (the console restores the terminal
 * there) and aborts. Not for code between fork and exec, or for sizes that the agent chooses.
 */
void *xmalloc(size_t size) MUST_USE;
void *xcalloc(size_t n, size_t size) MUST_USE;
void *xrealloc(void *p, size_t size) MUST_USE;
char *xstrdup(const char *s) MUST_USE; /* NULL gives NULL */
char *xstrndup(const char *s, size_t n) MUST_USE;
char *xasprintf(const char *fmt, ...) PRINTF_LIKE(1, 2) MUST_USE;
void util_set_oom_hook(void (*hook)(void));

int util_exit_code(int wait_status); /* like a shell's $? */

bool str_eq(const char *a, const char *b); /* NULL equals only NULL */
bool str_starts(const char *s, const char *prefix);
/* Returns whether s is in the NULL-terminated list. A list that is NULL is empty. */
bool str_one_of(const char *s, const char *const *list);
/* Returns whether the list sets the same variable as "NAME=value". NULL is empty. */
bool str_sets_same(const char *setting, const char *const *list);
bool str_ends(const char *s, const char *suffix);
