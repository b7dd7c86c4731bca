/* shim - the guest's pid 1: theory of operation, and the functions that its files share. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include <poll.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/*
 * Theory of operation.
 *
 * The shim is cordon's only program in the guest: /init of the initramfs, static, with no library
 * but libc. boot.c loads the modules, mounts the guest's tree and enters it. shim.c then serves
 * two virtio-serial ports until the host sends "shutdown":
 *
 *   control   JSON lines in both directions (backends/vm/monitor/shim_protocol.h describes them)
 *   tty       the bytes of the one terminal that a job may have
 *
 * The shim decides nothing, and the host trusts none of its messages: root in the guest can send
 * others in its place. It uses no heap without a bound. A message that does not fit is dropped: the
 * host then waits in vain, which hurts only the guest. procs.c tells the host which process of the
 * guest made a change.
 */

#define LINE_LEN (1u << 20) /* one message of the host */
#define LIST_LEN 4096	    /* entries of an argv or env */

/* ---- wire.c: one line of JSON ---- */
/* A message of the host. Strings point into the line, which is overwritten. */
struct message {
	const char *type;
	char *cwd, *data;   /* data: raw bytes */
	char **argv, **env; /* end with NULL */
	size_t data_len;
	long id, sig, rows, cols, uid, gid, step_id;
	long processes, memory, files, seconds; /* limits; 0: none */
	bool tty, end;
};
/* Parses a line. Returns false if it is no message. */
bool wire_parse(struct message *m, char *line, size_t len);
/* Writes {"type":"output",...} and a newline to out, which has OUTPUT_ROOM(len). Returns the
 * length.
 */
#define OUTPUT_ROOM(len) ((len)*6 + 128)
size_t wire_output(char *out, long id, const char *stream, const unsigned char *data, size_t len);

/* Writes the message about a process. type is "process" or "exec". out has PROCESS_ROOM. */
#define PROCESS_EXE  255
#define PROCESS_ARGV 4096
#define PROCESS_ROOM (OUTPUT_ROOM(PROCESS_EXE + PROCESS_ARGV) + 256)
struct told {
	int pid, parent, group;
	long long age_us;
	bool execed;
	unsigned char exe[PROCESS_EXE], argv[PROCESS_ARGV];
	size_t exe_len, argv_len;
};
size_t wire_process(char *out, const char *type, const struct told *t);

/* Writes {"type":"step",...}, a request about a step. out has OUTPUT_ROOM(len). */
size_t wire_step(char *out, long id, int pid, const unsigned char *data, size_t len);

/* ---- shim.c: messages to the host ---- */
void shim_say(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
char *shim_room(size_t n); /* room for n bytes of a message; NULL: none */
void shim_said(size_t n);  /* n bytes were written to shim_room() */

/* ---- procs.c: processes ---- */
void procs_open(int *ret_fd); /* poll it, then procs_read(); -1: no events */
void procs_read(void);
void procs_tick(void); /* in each turn of the clock, while procs_want_clock() */
bool procs_want_clock(void);
void procs_tell(int pid); /* reports it and its ancestors to the host */
void procs_who(int tid);

struct stat_line {
	char state;
	int parent, group, threads;
	unsigned flags;
	unsigned long long started; /* clock ticks since boot */
	int code;		    /* status of wait(2), if it has ended */
};
bool procs_read_stat(int pid, struct stat_line *ret);

/* ---- procs_act.c ---- */
void procs_kill(int pid, int sig); /* SIGKILL: its descendants, too */
/* Ends all processes, and tells the host the status of each that it knows. */
void procs_end_all(void);
/* Makes the kernel ask for the attributes of files and directories that processes use anew. */
void procs_refresh(void);

/* ---- steps.c: requests about steps, from programs inside ---- */
#define ASKERS 8 /* at a time; others wait */
void steps_open(void);
void steps_watch(struct pollfd p[1 + ASKERS]);
void steps_serve(const struct pollfd p[1 + ASKERS]);
void steps_answer(const struct message *m);

/* ---- events.c: the kernel's events of processes ---- */
struct event {
	bool exec; /* false: exit */
	int pid;
	int status; /* as of wait(2) */
};
int events_open(void); /* nonblocking; -1: this kernel has no events */
/* Reads an event. Returns 1, 0 if there is none, or -1 if events were lost. */
int events_next(int fd, struct event *ret);

/* ---- boot.c ---- */
/* Boots: when it returns, the guest's tree is the root directory. On failure it prints the error on
 * the console, which the host shows, and switches the machine off. */
void boot(int *ret_control, int *ret_tty);
/* True if the image for the guest's own changes is full. */
extern bool image_is_full;
void console_say(const char *fmt, ...) __attribute__((format(printf, 1, 2))); /* on the console */
void set_number(const char *path, const char *value); /* writes a file of /proc, if it exists */
void die(const char *what) __attribute__((noreturn));
/* Flushes the kept image and all other files, then powers off. */
void power_off(void) __attribute__((noreturn));

/* ---- limits.c ---- */
/* limits_make() runs before the fork, limits_enter() in the child as root. Return false on failure;
 * errno says why. */
bool limits_make(const struct message *m);
bool limits_enter(const struct message *m);

/* ---- network.c ---- */
/* Sets up the loopback device, and eth0 with its address, its routes and the resolver. Prints
 * errors on the console. */
void network_up(bool has_device);

/* ---- jobs.c: commands that run ---- */
#define JOBS  8
#define INPUT (64u << 10) /* bytes that the host may send before the job reads them */

struct job {
	long id;
	bool used, tty;
	bool started;	  /* the host has been told */
	bool ended;	  /* status is set; some of its output may not be sent yet */
	pid_t pid;	  /* leads a session of its own */
	int status;	  /* as of wait(2) */
	int report;	  /* pipe: brings an int if the command cannot run, else end of file; -1 */
	int in, out, err; /* pipes; with tty in and out are the pty's master; -1 */
	char input[INPUT];
	size_t n_input;
	bool end_input;	     /* close `in` when input is written */
	int quiet;	     /* turns of the clock since it ended */
	long long tty_bytes; /* bytes that it wrote to its terminal */
};
/* Starts a job. Returns 0, or -1 with errno. The caller calls job_close(), also after a failure. */
int job_start(struct job *j, const struct message *m);
void job_resize(const struct job *j, const struct message *m);
void job_close(struct job *j);
