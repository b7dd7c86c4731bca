/* log_stream - reads Seatbelt's denials from the log of a Mac while a session runs. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "backends/macos/os.h"
#include "backends/macos/xpc/violation.h"

/*
 * A child, `log stream`, writes one line an entry; it ends in log_stream_stop(), or when no
 * process reads its output. Its filter passes entries of the kernel alone: a program can name
 * itself Sandbox, but does not have the kernel's process number. Still a line may contain bytes of
 * the agent's (violation.h). A line about a process that is not the session's, or has ended
 * already, is dropped.
 *
 * Life:    log_stream_start() -> log_stream_stop().
 * Threads: one owner, who calls log_stream_read() when log_stream_fd() is readable.
 */
#define MAC_LOG_PROGRAM	    "/usr/bin/log"
#define LOG_STREAM_LINE_MAX (64u << 10) /* a longer one is dropped */

struct log_stream;

struct log_stream_spec {
	const struct mac_os *os;
	const char *program; /* MAC_LOG_PROGRAM; tests have their own */
	const char *session; /* id; borrowed */
	pid_t root;	     /* the agent */
	void (*seen)(void *data, const struct violation *v);
	void *data;
};

int log_stream_start(struct log_stream **ret, const struct log_stream_spec *spec, struct err *err)
	MUST_USE;
int log_stream_fd(const struct log_stream *l);
/* Calls seen() for whole lines. Returns false after the child's end. */
bool log_stream_read(struct log_stream *l) MUST_USE;
void log_stream_root_ended(struct log_stream *l); /* its number may be reused */
void log_stream_stop(struct log_stream *l);	  /* frees; NULL is a no-op */
