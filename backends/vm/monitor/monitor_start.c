/* monitor_start - makes the monitor: its sockets, QEMU at their other ends, its confinement. */
/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <fcntl.h>
#include <locale.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include "backends/linux/native_priv.h"
#include "backends/vm/monitor/monitor_priv.h"
#include "core/base/clock.h"
#include "core/base/io.h"
#include "core/os/signals.h"

/* Makes a socket pair. `other` is QEMU's end. */
static int make_socket(int *own, int *other, struct err *err)
{
	int fds[2];

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds) < 0)
		return err_set(err, -errno, "make a socket pair");
	*own = fds[0];
	*other = fds[1];
	return io_set_nonblock(*own, true);
}

static int make_initrd(const struct monitor_spec *spec, int *ret, struct err *err)
{
	int r;

	*ret = memfd_create("initrd", MFD_CLOEXEC);
	r = *ret < 0 ? -errno : io_pwrite_all(*ret, spec->initrd, spec->initrd_len, 0);
	return r < 0 ? err_set(err, r, "write the guest's initramfs") : 0;
}

static int reopen_disk(struct qemu_spec *q, struct err *err)
{
	AUTO_FREE char *path = xasprintf("/proc/self/fd/%d", q->disk);

	q->disk_read = q->disk < 0 ? -1 : open(path, O_RDONLY | O_CLOEXEC);
	if (q->disk >= 0 && q->disk_read < 0)
		return err_set(err, -errno, "open the guest's image");
	return 0;
}

static int start_qemu(struct monitor *m, const struct monitor_spec *spec, struct err *err)
{
	struct qemu_spec q = spec->qemu;
	int words[2] = {-1, -1}, r = make_initrd(spec, &q.initrd, err);

	if (r == 0)
		r = make_socket(&m->control, &q.control, err);
	if (r == 0)
		r = make_socket(&m->tty, &q.tty, err);
	if (r == 0)
		r = make_socket(&m->qmp, &q.qmp, err);
	if (r == 0)
		r = make_socket(&m->console, &q.console, err);
	if (r == 0)
		r = reopen_disk(&q, err);
	if (r == 0 && pipe2(words, O_CLOEXEC | O_NONBLOCK) < 0)
		r = err_set(err, -errno, "make a pipe");
	if (r < 0)
		return r;
	m->words = words[0];
	q.words = words[1];
	m->qemu = qemu_start(&q, err);
	r = (int)MIN(m->qemu, 0);
	close(q.initrd);
	close(q.control);
	close(q.tty);
	close(q.qmp);
	close(q.console);
	close(q.words);
	for (size_t i = 0; i < q.n; i++)
		close(q.shares[i]);
	util_close_fd(&q.net);
	util_close_fd(&q.disk);
	util_close_fd(&q.disk_read);
	return r;
}

/* Blocks all signals that can be blocked, except those of faults, which must end this process. */
static int block_signals(struct err *err)
{
	static const int faults[] = {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT, SIGSYS, SIGTRAP};
	sigset_t set;
	int fd;

	sigfillset(&set);
	for (size_t i = 0; i < ARRAY_LEN(faults); i++)
		sigdelset(&set, faults[i]);
	sigprocmask(SIG_SETMASK, &set, NULL);
	fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	return fd < 0 ? err_set(err, -errno, "make a signalfd") : fd;
}

/* Closes the keeper's other descriptors, which lead to the folders and the store. */
static void close_others(const struct monitor *m)
{
	const int keep[] = {m->sock,	m->signals, m->control,	    m->tty,	      m->qmp,
			    m->console, m->words,   m->guest_words, m->spec->lifeline};

	io_close_all_but(3, keep, ARRAY_LEN(keep));
}

static NORETURN void run(const struct monitor_spec *spec, int sock, int words, pid_t keeper)
{
	struct monitor m = {.spec = spec->spec,
			    .boot_seconds = spec->boot_seconds,
			    .sock = sock,
			    .guest_words = words,
			    .control_in = BUF_INIT,
			    .control_out = BUF_INIT,
			    .qmp_in = BUF_INIT,
			    .qmp_out = BUF_INIT,
			    .tty_out = BUF_INIT,
			    .out = {BUF_INIT, BUF_INIT},
			    .last = {.text = BUF_INIT}};
	struct err err = {0};
	int r;

	os_signals_usual();
	prctl(PR_SET_NAME, "cordon-monitor");
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != keeper)
		_exit(125);
	setsid();
	m.signals = block_signals(&err);
	r = MIN(m.signals, 0);
	if (r == 0)
		r = stdio_take(&m, &err);
	if (r == 0)
		r = start_qemu(&m, spec, &err);
	if (r == 0)
		close_others(&m);
	/* Another locale would open files to translate error messages. */
	setlocale(LC_ALL, "C");
	if (r == 0)
		r = monitor_confine(m.qemu, &err);
	if (r < 0) {
		monitor_end_qemu(&m);
		child_message_fail(sock, 125, &err);
	}
	stdio_starting(&m, true);
	m.deadline = clock_mono_us() + (int64_t)m.boot_seconds * 1000000;
	for (;;)
		monitor_turn(&m);
}

pid_t monitor_start(const struct monitor_spec *spec, int *ret_sock, int *ret_words, struct err *err)
{
	pid_t keeper = getpid(), pid;
	int fds[2], words[2], r = child_message_pair(fds, err);

	if (r < 0)
		return r;
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, words) < 0) {
		close(fds[0]);
		close(fds[1]);
		return err_set(err, -errno, "make a socket pair");
	}
	pid = fork();
	if (pid == 0) {
		close(fds[0]);
		close(words[0]);
		run(spec, fds[1], words[1], keeper);
	}
	close(fds[1]);
	close(words[1]);
	if (pid < 0) {
		close(fds[0]);
		close(words[0]);
		return err_set(err, -errno, "fork the monitor");
	}
	*ret_sock = fds[0];
	*ret_words = words[0];
	return pid;
}
