/* monitor_priv - what the parts of the monitor say to each other. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "backends/vm/monitor/guest_word.h"
#include "backends/vm/monitor/last_words.h"
#include "backends/vm/monitor/monitor.h"
#include "core/base/buf.h"

#define JOB	    1 /* the id of the one program that is run */
#define OUT_MAX	    ((size_t)256 << 10)
#define TTY_MAX	    ((size_t)64 << 10)
#define DOWN_US	    2000000 /* for the guest to switch itself off */
#define QUIT_US	    500000  /* then, for QEMU to write what it has and to end */
#define LIFELINE_US 1000000
#define NO_FILES_US 300000

enum phase {
	BOOTING,
	WAITING,  /* ready: the keeper has not said go */
	STARTING, /* exec sent */
	RUNNING,
	DRAINING, /* it has ended; bytes of its terminal are on their way */
	DOWN,	  /* shutdown sent */
	QUITTING, /* in vain: QEMU has been told to */
};

struct shim_event;
struct word_line;

#define UNSENT_MAX 1024 /* then the guest is not heard */

struct monitor {
	const struct spawn_spec *spec;
	enum phase phase;
	bool go;     /* the keeper's */
	bool stands; /* QEMU was told to stop the processor */
	bool told;   /* the keeper heard that it does */
	int boot_seconds;
	int64_t deadline;    /* of this phase, monotonic; 0: none */
	int64_t end_at;	     /* cordon is gone; 0: it is not */
	int64_t no_files_at; /* the file server has ended, and QEMU has not until then; or 0 */
	int sock, signals;
	int guest_words; /* to the keeper, too: guest_word.h; -1: ended */
	struct word_line *unsent, *last_unsent;
	size_t n_unsent;
	int control, tty, qmp, console, words; /* sockets; words a pipe of QEMU's; -1: ended */
	pid_t qemu;			       /* 0: it has been waited for */
	int in;				       /* standard input; -1: at its end */
	bool end_sent;
	size_t ahead; /* bytes of input that the guest has not taken */
	struct buf control_in, control_out, qmp_in, qmp_out;
	struct buf tty_out; /* to the guest */
	struct buf out[2];  /* to standard output and error */
	int64_t tty_got, tty_wanted;
	int status, signal; /* how the program ended */
	struct last_words last;
};

/* ---- monitor_stdio.c ---- */
/* Raw, and the controlling terminal, so that keys and sizes go to the guest's. */
int stdio_take(struct monitor *m, struct err *err) MUST_USE;
void stdio_size(const struct monitor *m, unsigned *rows, unsigned *cols);
bool stdio_wants_input(const struct monitor *m);
void stdio_read_input(struct monitor *m);
/* Bytes of the program's. */
/* On a terminal: a line of ours until the program runs. */
void stdio_starting(struct monitor *m, bool on);
void stdio_add(struct monitor *m, bool to_stderr, const char *data, size_t len);
/* One write that does not wait, after poll(2) has said so. */
void stdio_write(struct monitor *m, int which);
/* What is left, waiting for it while cordon is there: the program has ended. */
void stdio_write_all(struct monitor *m);

/* ---- monitor_words.c ---- */
/* What the guest says of its processes, to the keeper. */
void words_pass(struct monitor *m, const struct shim_event *e);
void words_add(struct monitor *m, struct guest_word *w, const char *exe, const char *argv,
	       size_t argv_len);
void words_hold(struct monitor *m, bool hold);
void words_stands(struct monitor *m, bool stands); /* it is so */
void words_send(struct monitor *m);		   /* what waits, once there is room */
void words_read(struct monitor *m);

/* ---- monitor.c ---- */
void monitor_turn(struct monitor *m);	  /* one turn of the loop; leaves the process at the end */
void monitor_end_qemu(struct monitor *m); /* and waits for it */
/* Say why to the keeper, end QEMU, and leave with status 125 or the given one. */
NORETURN void monitor_fail(struct monitor *m, int status, const char *fmt, ...) PRINTF_LIKE(3, 4);
