/* engine - a session that front ends drive: its handles on the loop, and its listeners. */
/* SPDX-License-Identifier: MIT */
#include "core/api/engine.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <string.h>
#include <unistd.h>
#include <utlist.h>
#include <uv.h>

#include "core/api/socket/api.h"
#include "core/api/approver.h"
#include "core/api/pending_undo.h"
#include "core/base/log.h"
#include "core/os/file.h"
#include "core/os/socket.h"

#define TICK_MS 1000

struct hearer {
	struct hearer *next;
	const struct engine_listener *on; /* NULL: has left; freed after the current report */
	void *data;
};

static const struct engine_consoles *consoles; /* NULL: no consoles */

struct engine {
	uv_loop_t *loop;
	void *consoles; /* for those; NULL without them */
	struct session *session;
	struct approver *approver;
	struct api *api;
	struct jobs *jobs;
	uv_poll_t keeper, answers; /* data is the engine */
	uv_timer_t tick;
	size_t handles; /* not closed yet */
	struct hearer *hearers;
	int telling;
	bool started, over, closing;
	bool changing; /* listeners are being called about a change */
	struct pending_undo undo;
};

/* ---- who hears ------------------------------------------------------------------------------- */

void engine_listen(struct engine *e, const struct engine_listener *on, void *data)
{
	struct hearer *h = xcalloc(1, sizeof(*h));

	h->on = on;
	h->data = data;
	LL_APPEND(e->hearers, h);
}

static void sweep(struct engine *e)
{
	struct hearer *h, *next;

	if (e->telling)
		return;
	for (h = e->hearers; h && (next = h->next, true); h = next) {
		if (h->on)
			continue;
		LL_DELETE(e->hearers, h);
		free(h);
	}
}

void engine_unlisten(struct engine *e, const void *data)
{
	struct hearer *h;

	for (h = e->hearers; h; h = h->next)
		if (h->data == data)
			h->on = NULL;
	if (e->undo.data == data)
		e->undo.fn = NULL;
	sweep(e);
}

#define TELL(e, what, ...)                                                                         \
	do {                                                                                       \
		(e)->telling++;                                                                    \
		for (struct hearer *h_ = (e)->hearers; h_; h_ = h_->next)                          \
			if (h_->on && h_->on->what)                                                \
				h_->on->what(__VA_ARGS__);                                         \
		(e)->telling--;                                                                    \
		sweep(e);                                                                          \
	} while (0)

static void tell_failed(struct engine *e, int status, const char *words)
{
	if (e->over)
		return;
	e->over = true;
	TELL(e, failed, h_->data, status, words);
}

/* ---- the session ----------------------------------------------------------------------------- */

static void on_changed(void *data)
{
	struct engine *e = data;
	bool outer = !e->changing;

	if (!e->session || e->closing)
		return;
	if (!e->started && session_model(e->session)->started) {
		e->started = true;
		TELL(e, started, h_->data);
	}
	pending_undo_check(&e->undo, e->session);
	/* The front end is called first, as it may answer the request itself. An answer calls this
	 * function again. */
	e->changing = true;
	TELL(e, changed, h_->data);
	if (!outer)
		return;
	e->changing = false;
	if (e->closing)
		return;
	api_changed(e->api);
	approver_changed(e->approver);
	if (e->consoles)
		consoles->changed(e->consoles);
}

static void on_exited(void *data, int wait_status)
{
	struct engine *e = data;

	if (e->jobs)
		tell_failed(e, 125, "the program that runs commands inside has ended");
	else
		TELL(e, exited, h_->data, wait_status);
}

static void on_said(void *data, const char *words)
{
	struct engine *e = data;

	TELL(e, said, h_->data, words, false);
}

static void on_frozen(void *data, const char *words)
{
	struct engine *e = data;

	TELL(e, said, h_->data, words, true);
}

static void on_failed(void *data, int status, const char *words)
{
	tell_failed(data, status, words);
}

static void on_answered(void *data, uint64_t ask, bool allow)
{
	struct engine *e = data;

	TELL(e, answered, h_->data, ask, allow);
}

static const struct session_listener listener = {
	.changed = on_changed,
	.exited = on_exited,
	.stopped = on_said,
	.frozen = on_frozen,
	.failed = on_failed,
	.answered = on_answered,
};

/* ---- the loop -------------------------------------------------------------------------------- */

static void on_keeper(uv_poll_t *poll, int status, int events);

static void watch_keeper(struct engine *e)
{
	if (!e->closing)
		uv_poll_start(&e->keeper,
			      UV_READABLE | (session_wants_write(e->session) ? UV_WRITABLE : 0),
			      on_keeper);
}

static void on_keeper(uv_poll_t *poll, int status, int events)
{
	struct engine *e = poll->data;
	int r = session_ready(e->session, status < 0 || events & UV_READABLE, events & UV_WRITABLE);

	if (e->closing)
		return;
	if (r < 0) {
		uv_poll_stop(&e->keeper);
		tell_failed(e, 125,
			    "the keeper has ended: unfinished steps are rolled back at the next "
			    "start");
		return;
	}
	watch_keeper(e);
}

/* Reads the keeper's frames, but only the first ones of a flood. */
static void read_keeper(void *data)
{
	struct engine *e = data;

	for (int i = 0; i < 64 && !e->closing; i++) {
		struct pollfd p = {.fd = session_fd(e->session), .events = POLLIN};

		if (poll(&p, 1, 0) <= 0)
			return;
		if (session_ready(e->session, true, false) < 0)
			return; /* on_keeper() detects the end */
	}
}

static void on_answers(uv_poll_t *poll, int status, int events)
{
	struct engine *e = poll->data;

	(void)status, (void)events;
	approver_ready(e->approver);
	if (approver_fd(e->approver) < 0)
		uv_poll_stop(&e->answers);
}

static void on_tick(uv_timer_t *timer)
{
	struct engine *e = timer->data;

	approver_changed(e->approver); /* a notification may be due */
	session_expire_asks(e->session);
	if (e->consoles)
		consoles->tick(e->consoles);
	watch_keeper(e);
}

static void open_handles(struct engine *e)
{
	e->keeper.data = e->answers.data = e->tick.data = e;
	uv_poll_init(e->loop, &e->keeper, session_fd(e->session));
	e->handles = 2;
	watch_keeper(e);
	uv_timer_init(e->loop, &e->tick);
	uv_timer_start(&e->tick, on_tick, TICK_MS, TICK_MS);
	if (approver_fd(e->approver) < 0)
		return;
	uv_poll_init(e->loop, &e->answers, approver_fd(e->approver));
	e->handles++;
	uv_poll_start(&e->answers, UV_READABLE, on_answers);
}

/* ---- consoles -------------------------------------------------------------------------------- */

void engine_set_consoles(const struct engine_consoles *ops)
{
	consoles = ops;
}

static void wake(void *data)
{
	watch_keeper(data);
}

static void take_console(void *data, int fd)
{
	consoles->take(((struct engine *)data)->consoles, fd);
}

static void on_end(void *data, const char *by)
{
	struct engine *e = data;
	AUTO_FREE char *words = xasprintf("ended from a %s", by);

	session_warn(e->session, words);
	TELL(e, end, h_->data);
}

static void open_consoles(struct engine *e, const struct session_spec *spec)
{
	if (!consoles)
		return;
	e->consoles = consoles->open(e->loop, e->session, spec, wake, e);
	api_consoles(e->api, take_console, e);
}

/* ---- life ------------------------------------------------------------------------------------ */

static int make_pair(int pair[2], int *null, struct err *err)
{
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) < 0)
		return err_set(err, -errno, "socket to the runner");
	*null = open("/dev/null", O_RDWR | O_CLOEXEC);
	return *null < 0 ? err_set(err, -errno, "/dev/null") : 0;
}

/* Starts the runner on one end of a socket pair. */
static int start_runner(struct engine *e, struct session_spec *spec, struct err *err)
{
	AUTO_FREE char *self = os_self_copy();
	const char *argv[] = {self, "inside", NULL};
	AUTO_CLOSE int ours = -1;
	AUTO_CLOSE int theirs = -1;
	AUTO_CLOSE int null = -1;
	int pair[2] = {-1, -1};
	int r = self ? make_pair(pair, &null, err) : err_set(err, -errno, "find this program");

	ours = pair[0];
	theirs = pair[1];
	if (r < 0)
		return r;
	spec->argv = argv;
	spec->stdio[0] = spec->stdio[1] = theirs;
	spec->stdio[2] = null;
	spec->tty = spec->headless = spec->one_step = false;
	r = session_start(&e->session, spec, &listener, e, err);
	spec->argv = NULL;
	if (r == 0)
		e->jobs = jobs_open(e->loop, take_fd(&ours), read_keeper, e);
	return r;
}

static void free_engine(struct engine *e)
{
	while (e->hearers) {
		struct hearer *h = e->hearers;

		LL_DELETE(e->hearers, h);
		free(h);
	}
	free(e);
}

/* Opens a session. on: the session runs an agent, whose events go to this listener; NULL: it has a
 * runner. */
static int open_it(struct engine **ret, uv_loop_t *loop, struct session_spec *spec,
		   const struct engine_listener *on, void *data, struct err *err)
{
	AUTO_FREE char *dir = api_dir(spec->state_dir);
	struct engine *e = xcalloc(1, sizeof(*e));
	struct err why = {0};
	int r = approver_open(&e->approver, spec->config, err);

	e->loop = loop;
	if (on)
		engine_listen(e, on, data);
	spec->answered |= approver_answers(e->approver);
	if (r == 0)
		r = on ? session_start(&e->session, spec, &listener, e, err)
		       : start_runner(e, spec, err);
	if (r < 0) {
		approver_close(e->approver);
		free_engine(e);
		return r;
	}
	if (on)
		uv_loop_init(loop);
	approver_attach(e->approver, e->session);
	open_handles(e);
	/* The session goes on without a socket. */
	if (api_open(&e->api, loop, e->session, dir, &why) < 0)
		log_warn("api", "other terminals cannot answer for this session: %s", why.text);
	if (on && on->end)
		api_ends(e->api, on_end, e);
	open_consoles(e, spec);
	*ret = e;
	return 0;
}

int engine_open(struct engine **ret, uv_loop_t *loop, struct session_spec *spec, struct err *err)
{
	return open_it(ret, loop, spec, NULL, NULL, err);
}

int engine_open_agent(struct engine **ret, uv_loop_t *loop, struct session_spec *spec,
		      const struct engine_listener *on, void *data, struct err *err)
{
	return open_it(ret, loop, spec, on, data, err);
}

static void on_handle_closed(uv_handle_t *handle)
{
	struct engine *e = handle->data;

	if (--e->handles == 0)
		free_engine(e);
}

void engine_close(struct engine *e)
{
	if (!e)
		return;
	e->closing = true;
	jobs_close(e->jobs);
	if (e->consoles)
		consoles->close(take_ptr(&e->consoles));
	api_close(e->api);
	uv_close((uv_handle_t *)&e->keeper, on_handle_closed);
	uv_close((uv_handle_t *)&e->tick, on_handle_closed);
	if (e->handles == 3)
		uv_close((uv_handle_t *)&e->answers, on_handle_closed);
	approver_attach(e->approver, NULL);
	session_close(e->session);
	approver_close(e->approver);
	e->session = NULL;
	e->approver = NULL;
	pending_undo_done(&e->undo);
}

struct session *engine_session(struct engine *e)
{
	return e->session;
}

const struct model *engine_model(struct engine *e)
{
	return session_model(e->session);
}

struct jobs *engine_jobs(struct engine *e)
{
	return e->jobs;
}

bool engine_has_human(const struct engine *e)
{
	return e->approver || (e->api && api_clients(e->api)) ||
	       (e->consoles && consoles->has_human(e->consoles));
}

bool engine_is_over(const struct engine *e)
{
	return e->over;
}

void engine_printed(struct engine *e, const char *bytes, size_t len, int rows, int cols)
{
	if (e && e->consoles)
		consoles->printed(e->consoles, bytes, len, rows, cols);
}

int engine_undo(struct engine *e, const struct undo_call *c, engine_on_undo fn, void *data,
		struct err *err)
{
	return pending_undo_begin(&e->undo, e->session, c, fn, data, err);
}

int engine_answer(struct engine *e, const char *by, uint64_t ask, const struct answer *a,
		  struct err *err)
{
	return session_answer(e->session, by, ask, a, err);
}
