/* monitor_priv - the monitor's state, and the functions that its files share. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "backends/vm/monitor/guest_word.h"
#include "backends/vm/monitor/last_words.h"
#include "backends/vm/monitor/monitor.h"
#include "core/base/buf.h"

#define JOB	    1 /* the id of the program, the only job */
#define OUT_MAX	    ((size_t)256 << 10)
#define TTY_MAX	    ((size_t)64 << 10)
#define DRAIN_US    2000000 /* the longest wait for a command's last output */
#define DOWN_US	    5000000 /* for the guest to end its processes (2 s) and switch itself off */
#define QUIT_US	    500000  /* after that, for QEMU to write its buffers and end */
#define LIFELINE_US 1000000
#define NO_FILES_US 300000

enum phase {
	BOOTING,
	WAITING,  /* ready, until the keeper sends NOTE_GO */
	STARTING, /* exec sent */
	RUNNING,
	DRAINING, /* the program has ended; its terminal's last bytes are on their way */
	DOWN,	  /* shutdown sent */
	QUITTING, /* the guest did not switch off in time: "quit" is sent */
};

struct shim_event;
struct word_line;

#define UNSENT_MAX 1024 /* unsent messages to the keeper; at this number the guest is not read */

struct monitor {
	const struct spawn_spec *spec;
	enum phase phase;
	bool go;     /* the keeper has sent NOTE_GO */
	bool stands; /* QEMU was asked to stop the machine */
	bool told;   /* the keeper knows that the machine is stopped */
	int boot_seconds;
	int64_t deadline;    /* of this phase, monotonic; 0: none */
	int64_t end_at;	     /* when the monitor ends after cordon's end; or 0 */
	int64_t no_files_at; /* when QEMU is ended after the file server's end; or 0 */
	int sock, signals;
	int guest_words; /* guest_word.h, to the keeper; -1: ended */
	struct word_line *unsent, *last_unsent;
	size_t n_unsent;
	int control, tty, qmp, console,
		words; /* sockets; words: QEMU's stderr, a pipe; -1: ended */
	pid_t qemu;    /* 0: reaped */
	int in;	       /* standard input; -1: at its end */
	size_t ahead;  /* bytes of input that the guest has not taken */
	struct buf control_in, control_out, qmp_in, qmp_out;
	struct buf tty_out; /* to the guest */
	struct buf out[2];  /* to standard output and error */
	int64_t tty_got, tty_wanted;
	int status, signal; /* how the program ended */
	struct last_words last;
};

/* ---- monitor_stdio.c ---- */
/* Makes the terminal raw and the controlling terminal, so that keys and sizes reach the guest. */
int stdio_take(struct monitor *m, struct err *err) MUST_USE;
void stdio_size(const struct monitor *m, unsigned *rows, unsigned *cols);
bool stdio_wants_input(const struct monitor *m);
void stdio_read_input(struct monitor *m);
/* On a terminal: shows a message until the program runs (on), or removes it. */
void stdio_starting(struct monitor *m, bool on);
/* Adds output of the program. */
void stdio_add(struct monitor *m, bool to_stderr, const char *data, size_t len);
/* Writes once without waiting, after poll(2) has reported room. */
void stdio_write(struct monitor *m, int which);
/* Writes all pending output after the program's end; waits for it as long as cordon runs. */
void stdio_write_all(struct monitor *m);

/* ---- monitor_words.c ---- */
/* Passes the guest's message about a process on to the keeper. */
void words_pass(struct monitor *m, const struct shim_event *e);
void words_add(struct monitor *m, struct guest_word *w, const char *exe, const char *argv,
	       size_t argv_len);
void words_hold(struct monitor *m, bool hold);
void words_stands(struct monitor *m, bool stands); /* handles QEMU's report */
void words_send(struct monitor *m);		   /* sends waiting messages if there is room */
void words_read(struct monitor *m);

/* ---- monitor.c ---- */
void monitor_turn(struct monitor *m);	  /* one turn of the loop; leaves the process at the end */
void monitor_end_qemu(struct monitor *m); /* reaps it, too */
