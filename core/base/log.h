/* log - the diagnostic log: JSON lines for developers of cordon, not for its users. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "core/base/util.h"

enum log_level {
	LOG_ERROR,
	LOG_WARN,
	LOG_INFO,
	LOG_DEBUG,
};

/*
 * Until log_open() everything is dropped. fd is shared across fork. Lines are written with one
 * write(2) to an O_APPEND file, so processes do not mix their lines. Thread-safe.
 */
void log_open(int fd, enum log_level max, const char *session); /* borrows fd; copies session */
/* Opens dir/cordon.log for this process and its children; a log above 8 MiB becomes cordon.log.1.
 * Returns the descriptor (log_open() uses it), or -1 if there can be no log. */
int log_open_in(const char *dir, enum log_level max, const char *session);
/* Writes lines of this process, not of its children, also to fd, which the caller keeps. It needs
 * no log file. There the time is named "timestamp". */
void log_also(int fd, enum log_level max);
/* Sets the request that later lines are about; "" or NULL: none. */
void log_about(const char *request);
void log_about_step(int64_t step); /* 0: none */
int log_descriptor(void);	   /* -1: none */
bool log_wants(enum log_level level);
/* component: "keeper", "journal", "door", ... */
void log_line(enum log_level level, const char *component, const char *fmt, ...) PRINTF_LIKE(3, 4);

#define log_error(...) log_line(LOG_ERROR, __VA_ARGS__)
#define log_warn(...)  log_line(LOG_WARN, __VA_ARGS__)
#define log_info(...)  log_line(LOG_INFO, __VA_ARGS__)
#define log_debug(...)                                                                             \
	do {                                                                                       \
		if (log_wants(LOG_DEBUG))                                                          \
			log_line(LOG_DEBUG, __VA_ARGS__);                                          \
	} while (0)
