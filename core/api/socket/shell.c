/* shell - a program beside the agent for a client of the socket: bytes both ways. */
/* SPDX-License-Identifier: MIT */
#include "core/api/socket/shell.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>
#include <utlist.h>
#include <uv.h>

#include "core/api/socket/frames.h"
#include "core/base/io.h"
#include "core/keeper/client.h"
#include "core/os/socket.h"

#define PIECE	  16384
#define INPUT_MAX ((size_t)256 << 10) /* most bytes queued for the program */
#define REST_MS	  50		      /* wait after its end for the terminal's last output */

enum {
	IN,
	OUT,
	ERR,
	ENDS
}; /* with a terminal, OUT is its master and the others are unused */

struct shell {
	struct shell *next;
	struct shells *all;
	struct frames line;
	uint64_t id; /* of session_shell(); 0: none is running */
	bool tty, begun, over, eof;
	int status;
	char *words; /* why it was not started */
	char by[64];
	int fd[ENDS];
	struct buf input;
	uv_poll_t on_line, on_end[ENDS];
	uv_timer_t rest;
	unsigned open; /* handles that are open */
	bool closing;
};

struct shells {
	uv_loop_t *loop;
	struct session *session;
	struct shell *list;
	size_t n;
	bool closed;
};

/* ---- life ------------------------------------------------------------------------------------ */

static void release_all(struct shells *all)
{
	if (all->closed && !all->n)
		free(all);
}

static void on_closed(uv_handle_t *handle)
{
	struct shell *sh = handle->data;
	struct shells *all = sh->all;

	if (--sh->open)
		return;
	frames_close(&sh->line);
	buf_done(&sh->input);
	free(sh->words);
	free(sh);
	all->n--;
	release_all(all);
}

static void close_poll(uv_poll_t *poll)
{
	if (poll->data && !uv_is_closing((uv_handle_t *)poll))
		uv_close((uv_handle_t *)poll, on_closed);
}

static void close_end(struct shell *sh, int i)
{
	close_poll(&sh->on_end[i]);
	util_close_fd(&sh->fd[i]);
}

/* Drops a program whose client has disconnected, or has been told all. */
static void drop(struct shell *sh)
{
	if (sh->closing)
		return;
	sh->closing = true;
	if (sh->id)
		session_shell_forget(sh->all->session, sh->id);
	sh->id = 0;
	LL_DELETE(sh->all->list, sh);
	close_poll(&sh->on_line);
	for (int i = 0; i < ENDS; i++)
		close_end(sh, i);
	uv_close((uv_handle_t *)&sh->rest, on_closed);
}

static void update(struct shell *sh);

/* ---- output ---------------------------------------------------------------------------------- */

/* Reads output once. Returns whether there was any. */
static bool read_end(struct shell *sh, int i)
{
	char bytes[PIECE];
	ssize_t n;

	if (sh->fd[i] < 0)
		return false;
	n = read(sh->fd[i], bytes, sizeof(bytes));
	if (n > 0) {
		frames_send(&sh->line, i == ERR ? FRAME_ERRORS : FRAME_OUTPUT, bytes, (size_t)n);
		return true;
	}
	if (n == 0 || (errno != EAGAIN && errno != EINTR)) /* EIO: no process has it open */
		close_end(sh, i);
	return false;
}

static bool has_no_output(const struct shell *sh)
{
	return sh->fd[OUT] < 0 && sh->fd[ERR] < 0;
}

/* Sends the end of the program, after all output was read. */
static void finish(struct shell *sh)
{
	AUTO_BUF struct buf bytes = BUF_INIT;
	const struct ending end = {.status = sh->status, .error = sh->words};

	for (int i = 0; i < ENDS; i++)
		close_end(sh, i);
	ending_put(&end, &bytes);
	frames_send(&sh->line, FRAME_END, bytes.data, bytes.len);
	sh->over = true;
	update(sh);
}

static void on_rest(uv_timer_t *timer)
{
	struct shell *sh = timer->data;
	bool out, errors;

	if (frames_wants_write(&sh->line)) /* called again when the client has read */
		return;
	out = read_end(sh, OUT);
	errors = read_end(sh, ERR);
	if (out || errors)
		uv_timer_start(timer, on_rest, REST_MS, 0);
	else
		finish(sh);
	if (!sh->over)
		update(sh);
}

static void on_ended(void *data, int status, const char *words)
{
	struct shell *sh = data;

	sh->id = 0;
	sh->status = status;
	sh->words = words ? xstrdup(words) : NULL;
	if (has_no_output(sh))
		finish(sh);
	else
		uv_timer_start(&sh->rest, on_rest, REST_MS, 0);
}

static void on_output(uv_poll_t *poll, int status, int events)
{
	struct shell *sh = poll->data;
	int i = (int)(poll - sh->on_end);

	if (events & UV_WRITABLE && sh->input.len) {
		ssize_t n = write(sh->fd[i], sh->input.data, sh->input.len);

		if (n > 0)
			buf_drop_front(&sh->input, (size_t)n);
		else if (n < 0 && errno != EAGAIN && errno != EINTR)
			status = -errno;
	}
	if (i == IN && status < 0) { /* the program reads nothing more */
		buf_clear(&sh->input);
		close_end(sh, IN);
	}
	if (i != IN && (status < 0 || events & (UV_READABLE | UV_DISCONNECT)))
		read_end(sh, i);
	if (sh->begun && !sh->id && !sh->over && has_no_output(sh))
		finish(sh);
	else
		update(sh);
}

/* ---- start ----------------------------------------------------------------------------------- */

static void set_size(const struct shell *sh, const struct frame_size *size)
{
	const struct winsize ws = {.ws_col = size->w, .ws_row = size->h};

	if (sh->tty && sh->fd[OUT] >= 0)
		ioctl(sh->fd[OUT], TIOCSWINSZ, &ws);
}

static int open_terminal(struct shell *sh, const struct frame_size *size, int inside[3])
{
	sh->fd[OUT] = io_open_pty(&inside[0]);
	if (sh->fd[OUT] < 0)
		return sh->fd[OUT];
	for (int i = 1; i < 3; i++)
		inside[i] = fcntl(inside[0], F_DUPFD_CLOEXEC, 3);
	set_size(sh, size);
	return inside[1] < 0 || inside[2] < 0 ? -errno : 0;
}

static int open_pipes(struct shell *sh, int inside[3])
{
	for (int i = 0; i < ENDS; i++) {
		int fds[2];

		if (pipe2(fds, O_CLOEXEC) < 0)
			return -errno;
		sh->fd[i] = fds[i == IN];
		inside[i] = fds[i != IN];
	}
	return 0;
}

static int watch_ends(struct shell *sh)
{
	int r = 0;

	for (int i = 0; i < ENDS && r == 0; i++) {
		if (sh->fd[i] < 0)
			continue;
		io_set_nonblock(sh->fd[i], true);
		r = uv_poll_init(sh->all->loop, &sh->on_end[i], sh->fd[i]);
		if (r < 0)
			break;
		sh->on_end[i].data = sh;
		sh->open++;
	}
	return r;
}

static int start(struct shell *sh, const struct shell_order *o, struct err *err)
{
	struct shell_wish w = {.argv = (const char *const *)o->argv,
			       .env = (const char *const *)o->env,
			       .cwd = o->cwd,
			       .tty = o->tty,
			       .stdio = {-1, -1, -1}};
	int r;

	sh->tty = o->tty;
	r = o->tty ? open_terminal(sh, &o->size, w.stdio) : open_pipes(sh, w.stdio);
	if (r == 0)
		r = watch_ends(sh);
	if (r < 0) {
		for (int i = 0; i < 3; i++)
			util_close_fd(&w.stdio[i]);
		return err_set(err, r, "make a terminal");
	}
	sh->id = session_shell(sh->all->session, sh->by, &w, on_ended, sh, err);
	return sh->id ? 0 : -EIO;
}

static void begin(struct shell *sh, const struct span *data)
{
	struct shell_order o;
	struct err err = {0};

	if (shell_order_get(&o, data) < 0) {
		drop(sh);
		return;
	}
	sh->begun = true;
	if (sh->all->n > SHELLS_MAX)
		err_say(&err, -EUSERS, "too many programs run beside the agent");
	if (err.code || start(sh, &o, &err) < 0) {
		sh->status = 125;
		sh->words = xstrdup(err.text);
		finish(sh);
	}
	shell_order_done(&o);
}

/* ---- from the client ------------------------------------------------------------------------- */

static void end_input(struct shell *sh)
{
	static const char eot = 4;

	if (!sh->eof || sh->input.len)
		return;
	if (!sh->tty)
		close_end(sh, IN);
	else if (sh->fd[OUT] >= 0)
		(void)!write(sh->fd[OUT], &eot, 1);
	sh->eof = false;
}

static void hear(struct shell *sh, const struct frame *f)
{
	struct frame_size size;
	int sig;

	if (!sh->begun) {
		if (f->type == FRAME_SHELL)
			begin(sh, &f->data);
		else
			drop(sh);
		return;
	}
	switch ((int)f->type) {
	case FRAME_INPUT:
		if (sh->fd[sh->tty ? OUT : IN] >= 0)
			buf_add(&sh->input, f->data.data, f->data.len);
		break;
	case FRAME_EOF:
		sh->eof = true;
		break;
	case FRAME_SIZE:
		if (f->data.len == sizeof(size)) {
			memcpy(&size, f->data.data, sizeof(size));
			set_size(sh, &size);
		}
		break;
	case FRAME_SIGNAL:
		if (f->data.len == sizeof(sig) && sh->id) {
			memcpy(&sig, f->data.data, sizeof(sig));
			session_shell_signal(sh->all->session, sh->id, sig);
		}
		break;
	default:
		break;
	}
}

static void on_line(uv_poll_t *poll, int status, int events)
{
	struct shell *sh = poll->data;
	struct frame f;
	int r = 0, got = 0;

	if (events & UV_WRITABLE)
		r = frames_flush(&sh->line);
	if (r == 0 && (events & UV_READABLE || (status == 0 && events & UV_DISCONNECT)))
		r = frames_fill(&sh->line);
	while (!sh->closing && (got = frames_next(&sh->line, &f)) > 0)
		hear(sh, &f);
	if (sh->closing)
		return;
	if (status < 0 || r == -EPIPE || got < 0 || (sh->over && !frames_wants_write(&sh->line))) {
		drop(sh);
		return;
	}
	if (sh->begun && !sh->id && !sh->over && !uv_is_active((uv_handle_t *)&sh->rest))
		uv_timer_start(&sh->rest, on_rest, REST_MS, 0);
	update(sh);
}

/* ---- the events waited for ------------------------------------------------------------------- */

static void update(struct shell *sh)
{
	bool full = frames_wants_write(&sh->line);
	int input = sh->tty ? OUT : IN;

	if (sh->closing)
		return;
	if (sh->over && !full) {
		drop(sh);
		return;
	}
	end_input(sh);
	uv_poll_start(&sh->on_line,
		      UV_DISCONNECT | (full ? UV_WRITABLE : 0) |
			      (sh->input.len < INPUT_MAX ? UV_READABLE : 0),
		      on_line);
	for (int i = 0; i < ENDS; i++) {
		int events = (i != IN && !full ? UV_READABLE : 0) |
			     (i == input && sh->input.len ? UV_WRITABLE : 0);

		if (sh->fd[i] < 0)
			continue;
		if (events)
			uv_poll_start(&sh->on_end[i], events, on_output);
		else
			uv_poll_stop(&sh->on_end[i]);
	}
}

struct shells *shells_new(uv_loop_t *loop, struct session *s)
{
	struct shells *all = xcalloc(1, sizeof(*all));

	all->loop = loop;
	all->session = s;
	return all;
}

void shells_take(struct shells *all, int fd, const char *by)
{
	struct shell *sh;

	sh = xcalloc(1, sizeof(*sh));
	sh->all = all;
	sh->fd[IN] = sh->fd[OUT] = sh->fd[ERR] = -1;
	sh->input = (struct buf)BUF_INIT;
	snprintf(sh->by, sizeof(sh->by), "%s", by);
	frames_open(&sh->line, fd);
	uv_timer_init(all->loop, &sh->rest);
	sh->rest.data = sh;
	sh->open = 1;
	LL_PREPEND(all->list, sh);
	all->n++;
	if (uv_poll_init(all->loop, &sh->on_line, fd) < 0) {
		drop(sh);
		return;
	}
	sh->on_line.data = sh;
	sh->open++;
	update(sh);
}

void shells_close(struct shells *all)
{
	if (!all)
		return;
	all->closed = true;
	while (all->list)
		drop(all->list);
	release_all(all);
}
