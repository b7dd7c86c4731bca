/* git_client - gives git inside credentials of the user's git, if that is allowed. */
/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "core/base/base64.h"
#include "core/base/external.h"
#include "core/broker/broker_priv.h"
#include "core/os/text.h"

/*
 * git inside has shut its end when its request is whole, and waits for ours:
 *
 *   read -> asked (the keeper) -> settings looked at -> filled -> kept (cordon's recording) -> sent
 *
 * If there is no credential, git is told to give up: else it would ask in the agent's terminal,
 * where the agent reads the user's input.
 */

#define HTTPS_PORT 443

static void name_target(const struct asker *c, char out[NET_TARGET_TEXT])
{
	struct net_target t = c->wish.target;

	if (!t.port)
		t.port = HTTPS_PORT;
	net_target_format(&t, out);
}

static void give_up(struct asker *c)
{
	static const char quit[] = "quit=1\n";

	c->busy = false;
	asker_write(c, quit, sizeof(quit) - 1);
	if (!c->closing)
		asker_finish(c);
}

static void tell(struct asker *c, enum broker_what what, const char *words)
{
	struct broker_note note = {.what = what, .kind = RULE_CREDENTIALS, .id = c->id};

	name_target(c, note.target);
	snprintf(note.text, sizeof(note.text), "%s", words);
	broker_tell(c->broker, &note);
}

static void none(struct asker *c, const char *words)
{
	tell(c, BROKER_NONE, words);
	give_up(c);
}

/* ---- the user's git -------------------------------------------------------------------------- */

static void keep(struct asker *c, const char *data, size_t len)
{
	struct broker_note note = {.what = BROKER_SECRET, .id = c->id};

	memcpy(note.text, data, len);
	c->secrets++;
	broker_tell(c->broker, &note);
	explicit_bzero(&note, sizeof(note));
}

/* Keeps all forms out of the recording, also that of a header: "Authorization: Basic ...". */
static void keep_all(struct asker *c, struct span name, struct span password)
{
	AUTO_BUF struct buf both = BUF_INIT, coded = BUF_INIT;

	buf_add(&both, name.data, name.len);
	buf_ch(&both, ':');
	buf_add(&both, password.data, password.len);
	base64_encode(&coded, both.data, both.len);
	if (coded.len < BROKER_TEXT)
		keep(c, coded.data, coded.len);
	keep(c, password.data, password.len);
	explicit_bzero(both.data, both.len);
	explicit_bzero(coded.data, coded.len);
}

static void on_filled(struct asker *c, int status, struct span said)
{
	struct span name, password;

	if (!c)
		return;
	if (status != 0 || credential_answer(said, &c->reply, &name, &password) < 0) {
		none(c, "your git has no credentials for it");
	} else if (password.len >= BROKER_TEXT) {
		none(c, "your git's credentials for it are too long");
	} else {
		c->deadline_ms = (int64_t)uv_now(&c->broker->loop) + GIT_MS;
		keep_all(c, name, password);
	}
}

static void on_kept(struct asker *c)
{
	if (!c->secrets || --c->secrets)
		return;
	c->busy = false;
	tell(c, BROKER_USED, c->wish.path);
	asker_write(c, c->reply.data, c->reply.len);
	if (!c->closing)
		asker_finish(c);
}

static void fill(struct asker *c)
{
	static const char *const argv[] = {"git", "credential", "fill", NULL};
	AUTO_BUF struct buf question = BUF_INIT;

	credential_question(&c->wish, &question);
	job_run(c, argv, (struct span){question.data, question.len}, on_filled);
}

/* ---- what the agent may have written into its settings ------------------------------------------
 */

/* Checks "file:PATH", NUL, "KEY\nVALUE", NUL. Returns whether the agent can write none of the
 * files, and no helper. */
static bool is_safe(struct span said)
{
	const char *at = said.data, *end = said.data + said.len, *value;
	struct err err = {0};

	while (at < end) {
		const char *setting = memchr(at, '\0', (size_t)(end - at));
		const char *after =
			setting ? memchr(setting + 1, '\0', (size_t)(end - setting - 1)) : NULL;

		if (!after)
			return false;
		setting++;
		value = strchr(setting, '\n');
		if (!str_starts(at, "file:/") || external_is_kept_out(at + 5))
			return false;
		if ((str_starts(setting, "credential.") || str_starts(setting, "core.askpass")) &&
		    value && external_check("credential.helper", value + 1, &err) < 0)
			return false;
		at = after + 1;
	}
	return true;
}

static void on_settings(struct asker *c, int status, struct span said)
{
	if (!c)
		return;
	if (status != 0)
		none(c, "your git does not run, or has no settings");
	else if (!is_safe(said))
		none(c, "your git's settings, or a helper in them, lie where the agent writes");
	else
		fill(c);
}

static void on_answered(struct asker *c, bool allow)
{
	static const char *const argv[] = {"git", "config", "--list", "--show-origin", "-z", NULL};

	if (allow)
		job_run(c, argv, (struct span){"", 0}, on_settings);
	else
		give_up(c);
}

/* ---- the client ------------------------------------------------------------------------------ */

static void on_heard(struct asker *c)
{
	if (c->in.len > CREDENTIAL_MAX)
		asker_close(c);
}

static void on_ended(struct asker *c)
{
	char target[NET_TARGET_TEXT];
	const char *why;
	int got = credential_read(&c->wish, (struct span){c->in.data, c->in.len}, &why);

	c->deadline_ms = 0;
	if (got == 0) {
		asker_close(c);
		return;
	}
	if (got < 0) {
		give_up(c);
		return;
	}
	c->busy = true;
	name_target(c, target);
	asker_asks(c, RULE_CREDENTIALS, target, c->wish.path);
}

const struct asker_ops git_client = {
	.heard = on_heard, .ended = on_ended, .answered = on_answered, .kept = on_kept};
