/* bwrap - starts and watches bubblewrap, and takes over its namespaces. */
/* SPDX-License-Identifier: MIT */
#include "backends/bwrap/bwrap.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "backends/bwrap/bwrap_priv.h"
#include "core/base/io.h"
#include "core/os/signals.h"

/* The descriptors of bwrap's process: 0 to 2, and BWRAP_*. */
struct handed {
	int fds[BWRAP_FDS];
};

#define AUTO_HANDED CLEANUP(handed_done)

static void handed_done(struct handed *h)
{
	for (size_t i = 0; i < ARRAY_LEN(h->fds); i++)
		util_close_fd(&h->fds[i]);
}

static NORETURN void exec_bwrap(const char *program, struct handed *h)
{
	char name[] = "bwrap", option[] = "--args", args[16], end[] = "--", exe[32],
	     word[] = HOLDER_WORD;
	char *const argv[] = {name, option, args, end, exe, word, NULL}, *const env[] = {NULL};

	os_signals_usual();
	setpgid(0, 0);
	snprintf(args, sizeof(args), "%d", BWRAP_ARGS);
	snprintf(exe, sizeof(exe), "/proc/self/fd/%d", BWRAP_EXE);
	/* First move all to high numbers: a source may have another one's target number. */
	for (size_t i = 0; i < ARRAY_LEN(h->fds); i++) {
		h->fds[i] = fcntl(h->fds[i], F_DUPFD_CLOEXEC, BWRAP_FDS);
		if (h->fds[i] < 0)
			_exit(125);
	}
	for (size_t i = 0; i < ARRAY_LEN(h->fds); i++) {
		if (dup2(h->fds[i], (int)i) < 0)
			_exit(125);
	}
	close_range(BWRAP_FDS, ~0u, 0);
	execve(program, argv, env);
	_exit(errno == ENOENT ? 127 : 126);
}

static int make_pipe(int *ret_read, int *ret_write, struct err *err)
{
	int fds[2];

	if (pipe2(fds, O_CLOEXEC) < 0)
		return err_set(err, -errno, "make a pipe");
	*ret_read = fds[0];
	*ret_write = fds[1];
	return 0;
}

static int make_args(int *ret, const struct plan *plan, bool private_net, struct err *err)
{
	AUTO_BUF struct buf b = BUF_INIT;
	AUTO_CLOSE int fd = -1;
	int r;

	r = args_make(&b, plan, private_net, err);
	if (r < 0)
		return r;
	fd = memfd_create("bwrap-arguments", MFD_CLOEXEC);
	r = fd < 0 ? -errno : io_pwrite_all(fd, b.data, b.len, 0);
	if (r < 0)
		return err_set(err, r, "hand bubblewrap its arguments");
	*ret = take_fd(&fd);
	return 0;
}

/* Makes the descriptors. The keeper's ends: the socket and messages in c, *ret_info for the pid,
 * *ret_go to let bwrap continue. */
static int prepare(struct namespaces *c, struct handed *h, int *ret_info, int *ret_go,
		   struct err *err)
{
	int fds[2] = {-1, -1}, r;

	h->fds[0] = open("/dev/null", O_RDONLY | O_CLOEXEC);
	h->fds[BWRAP_EXE] = open("/proc/self/exe", O_PATH | O_CLOEXEC);
	if (h->fds[0] < 0 || h->fds[BWRAP_EXE] < 0)
		return err_set(err, -errno, "open this program");
	r = make_pipe(&c->words, &h->fds[2], err);
	if (r == 0)
		r = make_pipe(ret_info, &h->fds[BWRAP_INFO], err);
	if (r == 0)
		r = make_pipe(&h->fds[BWRAP_GO], ret_go, err);
	if (r == 0)
		r = child_message_pair(fds, err);
	if (r < 0)
		return r;
	c->sock = fds[0];
	h->fds[BWRAP_SOCK] = fds[1];
	h->fds[BWRAP_READ] = fcntl(*ret_info, F_DUPFD_CLOEXEC, 3);
	if (h->fds[BWRAP_READ] < 0)
		return err_set(err, -errno, "duplicate a pipe");
	h->fds[1] = fcntl(h->fds[2], F_DUPFD_CLOEXEC, 3);
	return h->fds[1] < 0 ? err_set(err, -errno, "duplicate a pipe") : 0;
}

/* Fails with bwrap's own message, which explains best. bwrap has ended by now. */
static int fail_with_words(struct namespaces *c, int code, struct err *err)
{
	char text[400];
	ssize_t n;

	io_set_nonblock(c->words, true);
	n = read(c->words, text, sizeof(text) - 1);
	if (n <= 0)
		return err_say(err, code,
			       "bubblewrap ended without a message: see `cordon doctor`");
	text[n] = '\0';
	text[strcspn(text, "\n")] = '\0';
	return err_say(err, code, "%s%s: see `cordon doctor`",
		       str_starts(text, "bwrap: ") ? "" : "bubblewrap: ", text);
}

static int read_pid(struct namespaces *c, int info, struct err *err)
{
	AUTO_FREE char *text = NULL;
	const char *at;
	int r = io_read_all(info, 4096, &text, NULL);

	at = r < 0 ? NULL : strstr(text, "\"child-pid\":");
	if (at)
		c->first = (pid_t)strtol(strchr(at, ':') + 1, NULL, 10);
	if (c->first <= 0)
		return fail_with_words(c, -EIO, err);
	/* The pid cannot have been reused: bwrap waits for the id maps before it waits for its
	 * child. */
	c->pidfd = (int)syscall(SYS_pidfd_open, c->first, 0);
	return c->pidfd < 0 ? err_set(err, -errno, "open a pidfd") : 0;
}

static int start_bwrap(struct namespaces *c, const struct plan *plan, const struct spawn_spec *spec,
		       struct err *err)
{
	AUTO_HANDED struct handed h = {.fds = {-1, -1, -1, -1, -1, -1, -1, -1, -1}};
	AUTO_CLOSE int info = -1;
	AUTO_CLOSE int go = -1;
	const char *program = bwrap_find(err);
	int r;

	if (!program)
		return err->code;
	c->private_net = !spec->allow_network;
	r = prepare(c, &h, &info, &go, err);
	if (r == 0)
		r = make_args(&h.fds[BWRAP_ARGS], plan, c->private_net, err);
	if (r < 0)
		return r;
	c->child = fork();
	if (c->child == 0)
		exec_bwrap(program, &h);
	if (c->child < 0)
		return err_set(err, -errno, "fork for bubblewrap");
	handed_done(&h);
	r = read_pid(c, info, err);
	if (r == 0)
		r = namespaces_write_maps(c->first, err);
	if (r == 0 && write(go, "", 1) != 1)
		r = err_set(err, -errno, "let bubblewrap go on");
	return r;
}

/* Kills the child of a bwrap that was killed: it would wait for ever and keep the socket open. */
static void end_child_without_bwrap(const struct namespaces *c)
{
	AUTO_CLOSE int bwrap = (int)syscall(SYS_pidfd_open, c->child, 0);
	struct pollfd p[] = {{.fd = c->sock, .events = POLLIN}, {.fd = bwrap, .events = POLLIN}};

	while (poll(p, ARRAY_LEN(p), -1) < 0 && errno == EINTR)
		continue;
	if (!p[0].revents && p[1].revents)
		kill(-c->child, SIGKILL);
}

static int finish_bwrap(struct namespaces *c, const struct plan *plan, int *ret_status,
			struct err *err)
{
	int r;

	end_child_without_bwrap(c);
	r = namespaces_take(c, ret_status, err);
	if (r == -EPIPE) /* the holder did not start */
		return fail_with_words(c, -EIO, err);
	if (r < 0)
		return r;
	if (!c->private_net)
		util_close_fd(&c->ns[NS_NET]);
	return finish_tree(c, plan, ret_status, err);
}

const struct builder bwrap_builder = {.start = start_bwrap, .finish = finish_bwrap};

static int check_overlays(const struct spawn_spec *spec, struct err *err)
{
	if (!spec->overlays || !*spec->overlays)
		return 0;
	return err_say(err, -EOPNOTSUPP,
		       "overlays are mounted by --backend native only: leave --overlay out, or "
		       "choose that");
}

static int bwrap_check(const struct spawn_spec *wanted, struct err *err)
{
	int r = check_overlays(wanted, err);

	return r < 0 ? r : sandbox_check(&bwrap_builder, wanted, err);
}

static int bwrap_launch(struct sandbox **ret, struct door **ret_door, const struct spawn_spec *spec,
			struct keeper *k, int *ret_status, struct err *err)
{
	int r = check_overlays(spec, err);

	if (r < 0)
		return r;
	return sandbox_launch(&bwrap_builder, ret, ret_door, spec, k, ret_status, err);
}

const struct backend backend_bwrap = {
	.name = "bwrap",
	.summary = "as native, with namespaces that bubblewrap makes",
	.asks_network = true,
	.probe = bwrap_probe,
	.check = bwrap_check,
	.launch = bwrap_launch,
	.enter = sandbox_enter,
	.signal = sandbox_signal,
	.stop = sandbox_stop,
	.confine_reader = confine_reader,
};
