/* shim - what the parts of the guest's pid 1 say to each other. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include <poll.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/*
 * Theory of operation.
 *
 * The shim is the only program of ours in the guest: /init of the initramfs, static, without a
 * library but libc. boot.c loads the modules, mounts the guest's tree and enters it. shim.c then
 * serves two virtio-serial ports until the host says "shutdown":
 *
 *   control   JSON lines in both directions (backends/vm/monitor/shim_protocol.h describes them)
 *   tty       the bytes of the one terminal that a job may have
 *
 * It decides nothing. Nobody on the host believes what it says: whoever is root in the guest may
 * speak in its place. It uses no heap for what has no bound, and a message that does not fit is
 * dropped: then the host waits in vain, which only hurts the guest. procs.c tells the host which
 * process of the guest a change came from.
 */

#define LINE_LEN (1u << 20) /* one message of the host */
#define LIST_LEN 4096	    /* words of an argv or env */

/* ---- wire.c: one line of JSON ---- */
/* What the host may say. Strings point into the line, which is overwritten. */
struct message {
	const char *type;
	char *cwd, *data;   /* data: raw bytes */
	char **argv, **env; /* end with NULL */
	size_t data_len;
	long id, sig, rows, cols, uid, gid, step_id;
	long processes, memory, files, seconds; /* limits; 0: none */
	bool tty, end;
};
/* False: it is no message. */
bool message_parse(struct message *m, char *line, size_t len);
/* Append {"type":"output",...} and a newline to out; returns its length. out has OUTPUT_ROOM(len).
 */
#define OUTPUT_ROOM(len) ((len)*6 + 128)
size_t message_output(char *out, long id, const char *stream, const unsigned char *data,
		      size_t len);

/* The same of a process. type is "process" or "exec". out has PROCESS_ROOM. */
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
size_t message_process(char *out, const char *type, const struct told *t);

/* {"type":"step",...}: a request about a step. out has OUTPUT_ROOM(len). */
size_t message_step(char *out, long id, int pid, const unsigned char *data, size_t len);

/* ---- shim.c: what goes to the host ---- */
void say(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
char *say_room(size_t n); /* NULL: there is none */
void said(size_t n);	  /* into that */

/* ---- procs.c: processes ---- */
void procs_open(int *ret_fd); /* readable: procs_read(); -1: this kernel tells nothing */
void procs_read(void);
void procs_tick(void); /* in each turn of the clock, as long as it is wanted */
bool procs_want_clock(void);
void procs_tell(int pid); /* the host hears of it, and of who is above it */
void procs_who(int tid);

struct stat_line {
	char state;
	int parent, group, threads;
	unsigned flags;
	unsigned long long started; /* clock ticks since boot */
	int code;		    /* wait(2), of one that has ended */
};
bool read_stat(int pid, struct stat_line *ret);

/* ---- procs_act.c ---- */
void procs_kill(int pid, int sig); /* by SIGKILL, all below it, too */
/* Ends all that runs, and tells the host how each that it knows of has ended. */
void procs_end_all(void);
/* What is in use of the folders is asked for anew. */
void procs_refresh(void);

/* ---- steps.c: requests about steps, from programs inside ---- */
#define ASKERS 8 /* at a time; the others wait */
void steps_open(void);
void steps_watch(struct pollfd p[1 + ASKERS]);
void steps_serve(const struct pollfd p[1 + ASKERS]);
void steps_answer(const struct message *m);

/* ---- events.c: what the kernel tells of processes ---- */
struct event {
	bool exec; /* else it has ended */
	int pid;
	int status; /* wait(2) */
};
int events_open(void); /* nonblocking; -1: this kernel tells nothing */
/* 1; 0: there is none; -1: some were lost. */
int events_next(int fd, struct event *ret);

/* ---- boot.c ---- */
/* Before it returns the guest's tree is the root directory. On failure the words are printed on the
 * console, which the host shows, and the machine is switched off. */
void boot(int *ret_control, int *ret_tty);
/* The image that takes the guest's own changes has no room left. */
extern bool image_is_full;
void console_say(const char *fmt, ...) __attribute__((format(printf, 1, 2))); /* on the console */
void set_number(const char *path, const char *value); /* of /proc; one that is not there is left */
void die(const char *what) __attribute__((noreturn));
/* Flush, unmount what is kept, power off. */
void power_off(void) __attribute__((noreturn));

/* ---- limits.c ---- */
/* Before the fork, and in the child as root; false: errno says why. */
bool limits_make(const struct message *m);
bool limits_enter(const struct message *m);

/* ---- network.c ---- */
/* The loopback device, and eth0 with its address, its routes and the resolver. What fails is said
 * on the console. */
void network_up(bool has_device);

/* ---- jobs.c: commands that run ---- */
#define JOBS  8
#define INPUT (64u << 10) /* bytes that the host may send ahead of what the job takes */

struct job {
	long id;
	bool used, tty;
	bool started;	  /* the host has been told */
	bool ended;	  /* status is set; what it wrote may not be sent yet */
	pid_t pid;	  /* leads a session of its own */
	int status;	  /* wait(2) */
	int report;	  /* an int comes from here when it cannot be run, else the end; -1 */
	int in, out, err; /* pipes; with tty in and out are the pty's master; -1 */
	char input[INPUT];
	size_t n_input;
	bool end_input;	     /* close it when that is written */
	int quiet;	     /* turns of the clock since it ended */
	long long tty_bytes; /* that it wrote to its terminal */
};
/* 0, or -1 with errno: the job is to be ended with job_close() all the same. */
int job_start(struct job *j, const struct message *m);
void job_resize(const struct job *j, const struct message *m);
void job_close(struct job *j);
