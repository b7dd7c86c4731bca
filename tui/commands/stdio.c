/* stdio - `cordon run --stdio`: pipes between an editor and its agent, and a loop for questions. */
/* SPDX-License-Identifier: MIT */
#include "tui/commands/stdio.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>
#include <uv.h>

#include "core/api/acp/acp.h"
#include "core/api/channel.h"
#include "core/api/engine.h"
#include "core/base/io.h"
#include "core/base/text.h"
#include "core/config/config.h"
#include "core/keeper/step_ask.h"
#include "core/os/signals.h"
#include "core/os/socket.h"
#include "tui/commands/stdio_tools.h"
#include "tui/console/driven.h"

#define FLUSH_MS 5000 /* time for the editor to read the rest at the end */
#define SLACK	 (256u << 10)

struct bridge {
	uv_loop_t loop;
	uv_poll_t signals;
	struct engine *engine;
	struct acp *acp;
	struct stdio_tools *tools;	/* acp.editor-tools = ask; else NULL */
	struct channel *editor, *agent; /* our stdin and stdout; our ends of the agent's pipes */
	bool exited, agent_over;
	int status;
	size_t unsaid; /* dropped messages */
};

/* Prints a message if there is room: the editor may not read, and an agent can cause many. The
 * number of dropped messages is printed with the next one. */
static void say(struct bridge *b, const char *words)
{
	struct pollfd p = {.fd = STDERR_FILENO, .events = POLLOUT};
	AUTO_BUF struct buf line = BUF_INIT;

	if (poll(&p, 1, 0) <= 0 || !(p.revents & POLLOUT)) {
		b->unsaid++;
		return;
	}
	if (b->unsaid)
		buf_fmt(&line, "cordon: messages left out for lack of room: %zu\n", b->unsaid);
	b->unsaid = 0;
	buf_str(&line, "cordon: ");
	text_escape(&line, words, strlen(words));
	if (line.len >= PIPE_BUF) /* a pipe with room takes that much without blocking */
		buf_truncate(&line, PIPE_BUF - 1);
	buf_ch(&line, '\n');
	(void)!io_write_all(STDERR_FILENO, line.data, line.len);
}

/* ---- bytes ----------------------------------------------------------------------------------- */

/* Stops reading from one side while the other does not read. */
static void balance(struct bridge *b)
{
	channel_hold(b->editor, channel_waiting(b->agent) > SLACK);
	channel_hold(b->agent, channel_waiting(b->editor) > SLACK);
}

static void from_editor(struct bridge *b, const char *bytes, size_t len, bool over)
{
	AUTO_BUF struct buf out = BUF_INIT;
	AUTO_BUF struct buf back = BUF_INIT;

	acp_from_editor(b->acp, bytes, len, over, &out, &back);
	channel_send(b->agent, &out);
	channel_send(b->editor, &back);
}

static void from_agent(struct bridge *b, const char *bytes, size_t len, bool over)
{
	AUTO_BUF struct buf out = BUF_INIT;
	AUTO_BUF struct buf back = BUF_INIT;

	acp_from_agent(b->acp, bytes, len, over, &out, &back);
	channel_send(b->editor, &out);
	channel_send(b->agent, &back);
}

static void on_editor(void *data, char *bytes, size_t len)
{
	from_editor(data, bytes, len, false);
	balance(data);
}

static void on_agent(void *data, char *bytes, size_t len)
{
	from_agent(data, bytes, len, false);
	balance(data);
}

static void on_sent(void *data, size_t bytes)
{
	(void)bytes;
	balance(data);
}

static void stop_if_over(struct bridge *b)
{
	if (b->exited && b->agent_over)
		uv_stop(&b->loop);
}

/* Passes the end of the editor's input, or of its reading, on to the agent. */
static void on_editor_ended(void *data, bool reader)
{
	struct bridge *b = data;

	if (reader) {
		channel_close(b->agent);
		b->agent_over = true;
		stop_if_over(b);
		return;
	}
	from_editor(b, "", 0, true);
	channel_finish(b->agent);
}

static void on_agent_ended(void *data, bool reader)
{
	struct bridge *b = data;

	if (reader)
		return;
	from_agent(b, "", 0, true);
	b->agent_over = true;
	stop_if_over(b);
}

static void on_too_long(void *data)
{
	(void)data; /* the channel has no lines */
}

static const struct channel_listener editor_on = {
	.line = on_editor, .too_long = on_too_long, .sent = on_sent, .ended = on_editor_ended};
static const struct channel_listener agent_on = {
	.line = on_agent, .too_long = on_too_long, .sent = on_sent, .ended = on_agent_ended};

/* ---- turns ----------------------------------------------------------------------------------- */

static void on_turn(void *data, const char *prompt)
{
	struct bridge *b = data;
	char name[160];

	if (b->engine && prompt)
		text_escape_into(name, sizeof(name), prompt, strlen(prompt));
	if (b->engine)
		session_group(engine_session(b->engine), prompt ? name : NULL);
	if (b->engine)
		session_rests(engine_session(b->engine), !prompt);
}

static char *on_notices(void *data)
{
	struct bridge *b = data;
	AUTO_FREE char *lines = b->engine ? session_take_notices(engine_session(b->engine)) : NULL;

	return lines ? xasprintf("%s\n%s", NOTICES_FROM, lines) : NULL;
}

static void on_permission(void *data, bool asks)
{
	struct bridge *b = data;

	if (b->engine)
		session_agent_asks(engine_session(b->engine), asks);
}

static void on_refused(void *data, const char *words)
{
	AUTO_FREE char *line =
		xasprintf("%s: not passed on: the editor would do it outside the sandbox", words);

	say(data, line);
}

static enum acp_verdict on_asks(void *data, uint64_t id, enum acp_act act, const char *what)
{
	struct bridge *b = data;

	return stdio_tools_ask(b->tools, engine_session(b->engine), id, act, what);
}

static void on_withdrawn(void *data, uint64_t id)
{
	struct bridge *b = data;

	stdio_tools_withdraw(b->tools, engine_session(b->engine), id);
}

static void on_answered(void *data, uint64_t ask, bool allow)
{
	struct bridge *b = data;
	AUTO_BUF struct buf out = BUF_INIT;
	AUTO_BUF struct buf back = BUF_INIT;
	const char *why = NULL;
	uint64_t id = b->tools ? stdio_tools_answered(b->tools, ask, &allow, &why) : 0;

	if (!id)
		return;
	acp_answer(b->acp, id, allow, why, &out, &back);
	channel_send(b->editor, &out);
	channel_send(b->agent, &back);
}

/* ---- the session ----------------------------------------------------------------------------- */

static void on_exited(void *data, int wait_status)
{
	struct bridge *b = data;

	b->exited = true;
	b->status = util_exit_code(wait_status);
	stop_if_over(b);
}

static void on_said(void *data, const char *words, bool fatal)
{
	(void)fatal;
	say(data, words);
}

static void on_failed(void *data, int status, const char *words)
{
	struct bridge *b = data;

	say(b, words);
	b->status = status;
	uv_stop(&b->loop);
}

static void on_signal(uv_poll_t *poll, int status, int events)
{
	struct bridge *b = poll->data;
	uv_os_fd_t fd;
	int sig;

	(void)status, (void)events;
	if (uv_fileno((uv_handle_t *)poll, &fd) == 0 && (sig = os_signals_next(fd)) != 0)
		session_signal(engine_session(b->engine), sig);
}

/* ---- life ------------------------------------------------------------------------------------ */

struct pipes { /* the agent's ends, and ours */
	int in[2], out[2];
};

static void pipes_done(struct pipes *p)
{
	for (int i = 0; i < 2; i++) {
		util_close_fd(&p->in[i]);
		util_close_fd(&p->out[i]);
	}
}

static int open_pipes(struct pipes *p, struct err *err)
{
	*p = (struct pipes){{-1, -1}, {-1, -1}};
	if (pipe2(p->in, O_CLOEXEC) < 0 || pipe2(p->out, O_CLOEXEC) < 0)
		return err_set(err, -errno, "make a pipe");
	return 0;
}

/* Blocks signals from a supervisor, which are meant for the agent. */
static int hold_signals(struct err *err)
{
	const sigset_t set =
		os_signals_block((const int[]){SIGINT, SIGTERM, SIGHUP, SIGQUIT, 0}, NULL);
	int fd = os_signals_open(&set);

	signal(SIGPIPE, SIG_IGN);
	return fd < 0 ? err_set(err, fd, "wait for signals") : fd;
}

static int start(struct bridge *b, struct session_spec *spec, struct pipes *p, struct err *err)
{
	static const struct engine_listener on = {
		.said = on_said, .exited = on_exited, .failed = on_failed, .answered = on_answered};
	int r;

	spec->stdio[0] = p->in[0];
	spec->stdio[1] = p->out[1];
	spec->stdio[2] = STDERR_FILENO;
	r = engine_open_agent(&b->engine, &b->loop, spec, &on, b, err);
	util_close_fd(&p->in[0]);
	util_close_fd(&p->out[1]);
	if (r < 0)
		return r;
	b->editor = channel_open(&b->loop, &(struct channel_spec){.in = 0, .out = 1, .raw = true},
				 &editor_on, b);
	b->agent = channel_open(
		&b->loop, &(struct channel_spec){.in = p->out[0], .out = p->in[1], .raw = true},
		&agent_on, b);
	pipes_done(p); /* the channel owns its descriptors */
	return 0;
}

static enum acp_tools tools_of(const struct session_spec *spec)
{
	const char *word = config_str(spec->config, "acp.editor-tools");

	return str_eq(word, "on")    ? ACP_TOOLS_ON
	       : str_eq(word, "ask") ? ACP_TOOLS_ASK
				     : ACP_TOOLS_OFF;
}

static void run_loop(struct bridge *b, int sigfd)
{
	b->signals.data = b;
	uv_poll_init(&b->loop, &b->signals, sigfd);
	uv_poll_start(&b->signals, UV_READABLE, on_signal);
	uv_run(&b->loop, UV_RUN_DEFAULT);
	channel_flush(b->editor, FLUSH_MS);
	channel_close(b->editor);
	channel_close(b->agent);
	uv_close((uv_handle_t *)&b->signals, NULL);
	engine_close(take_ptr(&b->engine));
	uv_run(&b->loop, UV_RUN_DEFAULT);
}

int stdio_run(struct session_spec *spec, struct err *err)
{
	static const struct acp_listener on = {.turn = on_turn,
					       .notices = on_notices,
					       .permission = on_permission,
					       .refused = on_refused,
					       .asks = on_asks,
					       .withdrawn = on_withdrawn};
	struct bridge b = {.status = 125};
	struct pipes p;
	AUTO_CLOSE int sigfd = hold_signals(err);
	int r = sigfd < 0 ? sigfd : open_pipes(&p, err);

	if (r < 0)
		return r;
	driven_consoles();
	b.acp = acp_new(tools_of(spec), &on, &b);
	if (tools_of(spec) == ACP_TOOLS_ASK)
		r = stdio_tools_new(&b.tools, spec, err);
	if (r == 0)
		r = start(&b, spec, &p, err);
	if (r == 0) {
		run_loop(&b, sigfd);
		uv_loop_close(&b.loop);
	}
	pipes_done(&p);
	acp_free(b.acp);
	stdio_tools_free(b.tools);
	return r < 0 ? r : b.status;
}
