/* secret_client - serves the TLS process, which asks for the secrets that go into requests. */
/* SPDX-License-Identifier: MIT */
#include <ctype.h>
#include <string.h>

#include "core/base/external.h"
#include "core/broker/broker_priv.h"
#include "core/os/text.h"

/*
 * Serves one secret at a time: its command runs, cordon learns what no recording may show, then the
 * TLS process gets the secret. The connection was judged like any other, so no question is asked
 * here.
 */

static const struct secret *wanted(const struct asker *c)
{
	return &c->broker->spec->secrets->list[c->secret];
}

static void tell(const struct asker *c, enum broker_what what, const char *words)
{
	struct broker_note note = {.what = what, .kind = BROKER_USE_SECRET, .id = c->id};

	snprintf(note.target, sizeof(note.target), "%s:443", wanted(c)->host);
	snprintf(note.text, sizeof(note.text), "%s%s%s", wanted(c)->name, *words ? ": " : "",
		 words);
	broker_tell(c->broker, &note);
}

static void next(struct asker *c);

static void answer(struct asker *c, bool had, const char *data, size_t len)
{
	const struct secret_answer head = {
		.secret = (uint8_t)c->secret, .had = had, .len = (uint16_t)len};

	c->working = false;
	asker_write(c, (const char *)&head, sizeof(head));
	if (!c->closing)
		asker_write(c, data, len);
	if (!c->closing)
		next(c);
}

static void refuse(struct asker *c, const char *words)
{
	answer(c, false, words, strlen(words));
}

static void none(struct asker *c, const char *words)
{
	tell(c, BROKER_NONE, words);
	refuse(c, words);
}

static struct span trimmed(struct span s)
{
	while (s.len && isspace((unsigned char)s.data[0]))
		s = (struct span){s.data + 1, s.len - 1};
	while (s.len && isspace((unsigned char)s.data[s.len - 1]))
		s.len--;
	return s;
}

static bool fits_header(struct span s)
{
	for (size_t i = 0; i < s.len; i++)
		if ((unsigned char)s.data[i] < ' ' || s.data[i] == 0x7f)
			return false;
	return s.len && s.len < SECRET_ANSWER_MAX;
}

static void on_said(struct asker *c, int status, struct span said)
{
	struct broker_note note = {.what = BROKER_SECRET};
	struct span value = trimmed(said);

	if (!c)
		return;
	if (status != 0) {
		none(c, "its command failed");
	} else if (!fits_header(value)) {
		none(c, "its command says nothing, too much, or control characters");
	} else {
		buf_clear(&c->reply);
		buf_add(&c->reply, value.data, value.len);
		note.id = c->id;
		memcpy(note.text, value.data, value.len);
		broker_tell(c->broker, &note);
		explicit_bzero(&note, sizeof(note));
	}
}

static void on_kept(struct asker *c)
{
	struct buf value = c->reply;

	if (!value.len)
		return;
	c->reply = (struct buf)BUF_INIT;
	tell(c, BROKER_USED, "");
	answer(c, true, value.data, value.len);
	explicit_bzero(value.data, value.cap);
	buf_done(&value);
}

/* Starts the next secret. `busy` stays set: an idle client would be closed for others. */
static void next(struct asker *c)
{
	const char *argv[] = {"/bin/sh", "-c", NULL, NULL};
	struct err err = {0};

	if (c->working || !c->in.len)
		return;
	c->secret = (unsigned char)c->in.data[0];
	buf_drop_front(&c->in, 1);
	if (c->secret >= c->broker->spec->secrets->n) {
		asker_close(c);
		return;
	}
	c->working = true;
	if (external_check("network.secret", wanted(c)->command, &err) < 0) {
		tell(c, BROKER_NONE, err.text);
		refuse(c, "its command is not run");
		return;
	}
	argv[2] = wanted(c)->command;
	job_run(c, argv, (struct span){"", 0}, on_said);
}

static void on_heard(struct asker *c)
{
	if (c->in.len > SECRETS_MAX)
		asker_close(c);
	else
		next(c);
}

static void on_ended(struct asker *c)
{
	asker_close(c);
}

static void on_answered(struct asker *c, bool allow)
{
	(void)c;
	(void)allow;
}

const struct asker_ops secret_client = {
	.heard = on_heard, .ended = on_ended, .answered = on_answered, .kept = on_kept};
