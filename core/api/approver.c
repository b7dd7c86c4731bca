/* approver - runs the user's commands that answer requests or are told of them. */
/* SPDX-License-Identifier: MIT */
#include <cjson/cJSON.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/api/socket/api_priv.h"
#include "core/api/approver_priv.h"
#include "core/base/clock.h"
#include "core/base/io.h"
#include "core/base/json.h"
#include "core/base/log.h"
#include "core/config/config.h"
#include "core/os/file.h"
#include "core/os/socket.h"
#include "core/session/answers/answers.h"

#define NOTIFY_US 10000000 /* least time between two runs of approval.notify */

struct approver {
	pid_t pid;
	int sock; /* -1: the helper process has ended */
	struct session *session;
	char *command, *notify;		 /* NULL: none */
	bool warned[2];			 /* the user knows that notify [0] or command [1] fails */
	bool denying;			 /* deny_left() runs */
	uint64_t sent, told;		 /* the newest request that each command was given */
	uint64_t running[APPROVER_JOBS]; /* the requests that commands work on */
	size_t n;
	int64_t told_us;
};

int approver_open(struct approver **ret, const struct config *c, struct err *err)
{
	struct helper_spec spec = {
		.command = config_str(c, "approval.command"),
		.notify = config_str(c, "approval.notify"),
		.timeout_s =
			(uint32_t)MIN(config_int(c, "approval.command-timeout"), INT64_C(86400)),
	};
	struct approver *a;
	int pair[2];
	pid_t pid;

	*ret = NULL;
	if (!spec.command && !spec.notify)
		return 0;
	if (socketpair(AF_UNIX, OS_PACKETS | SOCK_CLOEXEC, 0, pair) < 0)
		return err_set(err, -errno, "socket to the approver");
	pid = fork();
	if (pid < 0) {
		close(pair[0]);
		close(pair[1]);
		return err_set(err, -errno, "fork the approver");
	}
	if (pid == 0) {
		close(pair[0]);
		spec.sock = pair[1];
		helper_main(&spec);
	}
	close(pair[1]);
	io_set_nonblock(pair[0], true);
	a = xcalloc(1, sizeof(*a));
	a->pid = pid;
	a->sock = pair[0];
	a->command = spec.command ? xstrdup(spec.command) : NULL;
	a->notify = spec.notify ? xstrdup(spec.notify) : NULL;
	*ret = a;
	return 0;
}

bool approver_answers(const struct approver *a)
{
	return a && a->command != NULL;
}

void approver_attach(struct approver *a, struct session *s)
{
	if (a)
		a->session = s;
}

int approver_fd(const struct approver *a)
{
	return a ? a->sock : -1;
}

void approver_close(struct approver *a)
{
	if (!a)
		return;
	util_close_fd(&a->sock);
	while (waitpid(a->pid, NULL, 0) < 0 && errno == EINTR)
		continue;
	free(a->command);
	free(a->notify);
	free(a);
}

/* ---- orders ---------------------------------------------------------------------------------- */

/* Writes the line to a file, so that a command that reads nothing blocks no process. Returns it. */
static int make_input(const struct model *m, const struct ask *ask)
{
	AUTO_BUF struct buf line = BUF_INIT, request = BUF_INIT;
	AUTO_CLOSE int fd = os_memory_file("cordon-request");
	const char *tag = strrchr(m->session, '-'), *folder = m->folder ? m->folder : "";

	message_request(&request, ask);
	buf_fmt(&line, "{\"session\":\"%s\",\"approve_id\":\"%s-%" PRIu64 "\"", m->session,
		tag ? tag + 1 : m->session, ask->id);
	json_member(&line, "folder", folder);
	buf_fmt(&line, ",%s", request.data + 1);
	if (fd < 0 || io_write_all(fd, line.data, line.len) < 0 || lseek(fd, 0, SEEK_SET) < 0)
		return -1;
	return take_fd(&fd);
}

static bool order(const struct approver *a, enum order_what what, uint64_t id,
		  const struct ask *ask)
{
	const struct order o = {.id = id, .what = what};
	AUTO_CLOSE int in = ask ? make_input(session_model(a->session), ask) : -1;

	return (!ask || in >= 0) && io_send_fd(a->sock, &o, sizeof(o), in) >= 0;
}

static void forget(struct approver *a, size_t i)
{
	a->running[i] = a->running[--a->n];
}

static void cancel_answered(struct approver *a, const struct model *m)
{
	for (size_t i = a->n; i-- > 0;) {
		if (model_ask(m, a->running[i]))
			continue;
		order(a, ORDER_CANCEL, a->running[i], NULL);
		forget(a, i);
	}
}

static void ask_more(struct approver *a, const struct model *m)
{
	for (size_t i = 0; i < m->n_asks && a->n < APPROVER_JOBS; i++) {
		uint64_t id = m->asks[i].id;

		if (id <= a->sent || !order(a, ORDER_ASK, id, &m->asks[i]))
			continue;
		a->sent = id;
		a->running[a->n++] = id;
	}
}

static bool is_running(const struct approver *a, uint64_t id)
{
	for (size_t i = 0; i < a->n; i++)
		if (a->running[i] == id)
			return true;
	return false;
}

/* Denies the requests that the command left to a user who has detached. Each answer changes the
 * list and calls approver_changed(). */
static void deny_left(struct approver *a, const struct model *m)
{
	static const struct answer no = {0};

	if (a->denying)
		return;
	a->denying = true;
	for (size_t i = 0; i < m->n_asks;) {
		const uint64_t id = m->asks[i].id;
		bool left = id <= a->sent && !is_running(a, id);

		if (left && session_answer(a->session, "nobody: headless", id, &no, NULL) == 0)
			i = 0;
		else
			i++;
	}
	a->denying = false;
}

/* Runs approval.notify for the oldest request that it was not given. A flood is one message. */
static void notify(struct approver *a, const struct model *m)
{
	int64_t now = clock_mono_us();
	size_t i = 0;

	while (i < m->n_asks && m->asks[i].id <= a->told)
		i++;
	if (i == m->n_asks || (a->told_us && now - a->told_us < NOTIFY_US))
		return;
	order(a, ORDER_NOTIFY, m->asks[i].id, &m->asks[i]);
	a->told = m->asks[m->n_asks - 1].id;
	a->told_us = now;
}

/* ---- answers --------------------------------------------------------------------------------- */

/* Reports a failure of a command: the first one on the screen, each one in the log. */
static void warn(struct approver *a, bool asks, const char *why)
{
	AUTO_FREE char *words = xasprintf("%s: %s%s", asks ? "approval.command" : "approval.notify",
					  why, asks ? ": denied" : "");

	log_warn("approver", "%s", words);
	if (!a->warned[asks] && a->session)
		session_warn(a->session, words);
	a->warned[asks] = true;
}

/* Reads the command's answer; an unclear one denies. Returns false if the command leaves the answer
 * to the user. */
static bool read_answer(struct approver *a, const struct outcome *o, struct answer *ret)
{
	size_t len = MIN((size_t)o->len, sizeof(o->text));
	struct err err = {0};
	cJSON *object = NULL;
	bool asks;

	*ret = (struct answer){.allow = o->status == 0};
	while (len && strchr(" \t\r\n", o->text[len - 1]))
		len--;
	if (!len || o->fault)
		return true;
	object = cJSON_ParseWithLength(o->text, len);
	asks = cJSON_IsTrue(json_get(object, "ask"));
	if (asks)
		ret->allow = false; /* in a headless session, without a user */
	else if (!cJSON_IsObject(object) || answers_from_json(object, ret, &err) < 0 ||
		 cJSON_IsFalse(json_get(object, "allow"))) {
		if (o->status == 0 && !cJSON_IsObject(object))
			warn(a, true, "its output is no JSON object");
		else if (err.text[0])
			warn(a, true, err.text);
		ret->allow = false;
	}
	cJSON_Delete(object);
	return !asks || session_model(a->session)->headless;
}

static void give(struct approver *a, uint64_t id, const struct answer *answer)
{
	static const struct answer no = {0};
	struct err err = {0};

	if (session_answer(a->session, "approval.command", id, answer, &err) != -EPERM)
		return;
	warn(a, true, err.text);
	session_answer(a->session, "approval.command", id, &no, NULL);
}

static void warn_of(struct approver *a, const struct outcome *o)
{
	size_t len = MIN((size_t)o->len, sizeof(o->text));
	AUTO_FREE char *text = xstrndup(o->text, len);
	char status[80];

	snprintf(status, sizeof(status),
		 o->status < 0 ? "a signal ended it"
			       : "exit status %d: the shell cannot run it: check the path",
		 o->status);
	if (o->fault)
		warn(a, o->what == ORDER_ASK,
		     o->fault == APPROVER_NOT_STARTED ? text
		     : o->fault == APPROVER_LATE      ? "no answer in time"
						      : status);
}

static void finished(struct approver *a, const struct outcome *o)
{
	struct answer answer;

	warn_of(a, o);

	for (size_t i = 0; i < a->n; i++) {
		if (a->running[i] != o->id)
			continue;
		forget(a, i);
		if (read_answer(a, o, &answer))
			give(a, o->id, &answer);
		return;
	}
}

/* Handles the end of the helper: a user who is attached answers, otherwise requests are denied. */
static void give_up(struct approver *a)
{
	static const struct answer no = {0};
	const struct model *m = session_model(a->session);

	util_close_fd(&a->sock);
	a->n = 0;
	while (m->headless && m->n_asks)
		session_answer(a->session, "approval.command: it has ended", m->asks[0].id, &no,
			       NULL);
}

void approver_changed(struct approver *a)
{
	const struct model *m;

	if (!a || !a->session)
		return;
	m = session_model(a->session);
	if (a->sock < 0) {
		give_up(a);
		return;
	}
	cancel_answered(a, m);
	if (a->command)
		ask_more(a, m);
	if (a->command && m->headless)
		deny_left(a, m);
	if (a->notify)
		notify(a, m);
}

void approver_ready(struct approver *a)
{
	struct outcome o;
	ssize_t n;

	while ((n = recv(a->sock, &o, sizeof(o), MSG_DONTWAIT)) == (ssize_t)sizeof(o))
		finished(a, &o);
	if (n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR)) {
		warn(a, a->command, "the process that runs it has ended");
		give_up(a);
		return;
	}
	approver_changed(a);
}
