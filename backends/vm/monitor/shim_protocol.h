/* shim_protocol - JSON lines between the host and the guest's pid 1. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "core/base/buf.h"

struct spawn_limits;

/*
 * One object a line, on the virtio-serial port "control".
 *
 * To the guest:
 *   {"type":"exec","id":1,"argv":[...],"env":["A=b",...],"cwd":"/w","uid":0,"gid":0,"tty":true,
 *    "rows":24,"cols":80,"processes":0,"memory":0,"files":0,"seconds":0}
 *                                      run a program; tty: on the port "tty", else by messages;
 *                                      the last four limit it and its descendants, 0: no limit
 *   {"type":"input","id":1,"data":"..","end":true}     its standard input, at most SHIM_INPUT ahead
 *   {"type":"resize","id":1,"rows":24,"cols":80}
 *   {"type":"signal","id":1,"sig":15}    to its process group
 *   {"type":"rollback_notify","step_id":7}
 *   {"type":"who","id":123}              of which process is the thread 123?
 *   {"type":"kill","id":123,"sig":9}     a process; SIGKILL: its descendants, too
 *   {"type":"answer","id":1,"data64":".."}      to "step"
 *   {"type":"shutdown"}                  acknowledges "step_completed": end all processes that
 *                                      still run, report each ("left"), switch off
 *
 * From the guest:
 *   {"type":"ready","full":false}    full: the guest's image has no room left
 *   {"type":"step_started","id":1,"pid":57}     the program runs
 *   {"type":"exec_failed","id":1,"status":127,"code":2}     it does not; code is the errno
 *   {"type":"output","id":1,"stream":"stdout","data":".."}  or "data64", where it is not UTF-8
 *   {"type":"taken","id":1,"n":100}      so many bytes of input have been written
 *   {"type":"step_completed","id":1,"exit_code":0,"signal":0,"tty_bytes":123}
 *   {"type":"process","id":123,"parent":57,"group":123,"age":1000,"execed":true,"exe":"..",
 *    "data64":".."}                      before "is": each unreported ancestor; data is its argv
 *   {"type":"is","id":124,"pid":123}     the answer to "who"; 0: it has ended
 *   {"type":"exec","id":123, as "process"}      a reported process runs another program
 *   {"type":"step","id":1,"pid":123,"data":".."}     a process asks about its step; the guest's id
 *   {"type":"left","id":123,"exit_code":0,"signal":0}      a reported process has ended
 *
 * Other ids are the host's. The host trusts no message: root in the guest may send any. A wrong id
 * is ignored; a line that is no message, or longer than SHIM_LINE, ends the session.
 */
#define SHIM_LINE  (512u << 10)
#define SHIM_EXEC  (1u << 20)  /* the longest that the guest accepts */
#define SHIM_INPUT (64u << 10) /* bytes of input that the guest may not have acknowledged */

enum shim_kind {
	SHIM_READY,
	SHIM_STARTED,
	SHIM_FAILED,
	SHIM_OUTPUT,
	SHIM_TAKEN,
	SHIM_COMPLETED,
	SHIM_PROCESS,
	SHIM_IS,
	SHIM_EXECS,
	SHIM_LEFT,
	SHIM_STEP,
	SHIM_OTHER, /* of a later version; ignored */
};

struct shim_event {
	enum shim_kind kind;
	int64_t id, n; /* n: taken, tty_bytes, or age in microseconds */
	int pid, parent, group;
	int status; /* exit_code or status; 0..255 */
	int signal; /* 0: none */
	int code;   /* errno */
	bool to_stderr, execed, full;
	char *exe;  /* heap, or NULL */
	char *data; /* heap */
	size_t len;
};

/* Parses a line. Returns 0 or -EBADMSG. After success the caller calls shim_event_done(). */
int shim_parse(struct shim_event *ret, const char *line, size_t len) MUST_USE;
void shim_event_done(struct shim_event *e);

struct shim_exec {
	int64_t id;
	const char *const *argv, *const *env;
	const char *cwd;
	unsigned uid, gid;
	bool tty;
	unsigned rows, cols;
	const struct spawn_limits *limits; /* or NULL */
};
/* Append a line. -E2BIG: the guest does not accept a line of that length; nothing was appended. */
int shim_exec(struct buf *out, const struct shim_exec *e) MUST_USE;
void shim_input(struct buf *out, int64_t id, const char *data, size_t len, bool end);
void shim_resize(struct buf *out, int64_t id, unsigned rows, unsigned cols);
void shim_signal(struct buf *out, int64_t id, int sig);
void shim_rollback(struct buf *out, int64_t step);
void shim_who(struct buf *out, int64_t tid);
void shim_kill(struct buf *out, int64_t pid, int sig);
void shim_answer(struct buf *out, int64_t id, const char *data, size_t len);
void shim_shutdown(struct buf *out);
