/* agent_client - ssh inside: offers keys that settings name, and signs for known hosts. */
/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <string.h>

#include "core/broker/broker_priv.h"

/*
 * One request at a time, each with a connection of its own to the user's ssh-agent, which checks a
 * session-bind: a client that claims to have met a host key shows that host's signature of the
 * session. An ssh-agent that accepts this signature for another session does not check it, and
 * binds nothing.
 * To sign:
 *
 *   the user's keys are listed; the key must match ssh.agent
 *   the data to sign must be a login in that session, to that host key, with that key
 *   by known_hosts the host key must be that of a host in ssh.agent for this key
 *   the keeper is asked about that host
 *
 * For a forwarded agent (ssh -A) nothing is signed: another machine claims the host.
 */

static const char no_check[] = "your ssh-agent does not check which server ssh has met, as that of "
			       "OpenSSH does";

#define UNBOUND	  "unbound:22"
#define BINDS_MAX 16 /* of a connection, as in OpenSSH */

enum expect {
	EXPECT_NOTHING,
	EXPECT_LIST,
	EXPECT_KEYS,	/* the same, to look for the key that is to sign */
	EXPECT_FAILURE, /* of the session-bind for another session */
	EXPECT_BOUND,
	EXPECT_SIGNED,
};

struct agent_state {
	uv_pipe_t up; /* to the user's ssh-agent */
	uv_connect_t connect;
	bool connected; /* or trying */
	struct buf up_in;
	enum expect expect;
	struct buf message; /* a waiting message: a request to sign or to bind */
	/* Of the last session-bind that was checked. */
	struct buf host_key, session;
	bool bound, forwards;
	bool unchecked; /* the user's ssh-agent accepts any session-bind */
	unsigned binds;
	/* Of the key to sign with. */
	char fingerprint[AGENT_FINGERPRINT];
	char *comment;
	size_t host, file; /* indexes of the current lookup */
	bool serving;
};

static void go_on(struct asker *c);

static void reply(struct asker *c, struct span message)
{
	AUTO_BUF struct buf out = BUF_INIT;

	c->agent->expect = EXPECT_NOTHING;
	c->busy = false;
	agent_put(&out, message);
	asker_write(c, out.data, out.len);
	go_on(c);
}

static void fail(struct asker *c)
{
	const char byte = AGENT_FAILURE;

	reply(c, (struct span){&byte, 1});
}

static bool same(const struct buf *a, struct span b)
{
	return a->len == b.len && memcmp(a->data, b.data, b.len) == 0;
}

/* ---- the user's ssh-agent -------------------------------------------------------------------- */

static void on_up(struct asker *c, struct span message);

static void on_alloc(uv_handle_t *h, size_t size, uv_buf_t *ret)
{
	struct asker *c = h->data;

	(void)size;
	buf_reserve(&c->agent->up_in, 4096);
	*ret = uv_buf_init(c->agent->up_in.data + c->agent->up_in.len, 4096);
}

static void on_read(uv_stream_t *stream, ssize_t n, const uv_buf_t *buf)
{
	struct asker *c = stream->data;
	struct agent_state *a = c->agent;
	struct span message;
	int got = n < 0 ? -1 : 0;

	(void)buf;
	if (n > 0) {
		a->up_in.len += (size_t)n;
		a->up_in.data[a->up_in.len] = '\0';
		got = agent_frame(a->up_in.data, a->up_in.len, &message);
	}
	if (got < 0 || (got > 0 && a->up_in.len != message.len + 4)) {
		asker_close(c); /* closed, or it sent an answer without a question */
	} else if (got > 0) {
		struct buf whole = a->up_in;

		a->up_in = (struct buf)BUF_INIT;
		on_up(c, message);
		buf_done(&whole);
	}
}

static void on_connected(uv_connect_t *request, int status)
{
	struct asker *c = request->data;

	if (status == UV_ECANCELED || c->closing)
		return;
	if (status < 0 || uv_read_start((uv_stream_t *)&c->agent->up, on_alloc, on_read) < 0)
		asker_close(c);
}

/* Sends a request to the user's ssh-agent. Until the connection is made, the request waits. */
static void ask_up(struct asker *c, struct span message, enum expect expect)
{
	AUTO_BUF struct buf out = BUF_INIT;
	struct agent_state *a = c->agent;

	if (!c->broker->spec->agent) {
		fail(c);
		return;
	}
	if (!a->connected) {
		a->connected = true;
		a->connect.data = c;
		uv_pipe_connect(&a->connect, &a->up, c->broker->spec->agent, on_connected);
	}
	a->expect = expect;
	agent_put(&out, message);
	if (process_write_stream((uv_stream_t *)&a->up, out.data, out.len) < 0)
		asker_close(c);
}

static void ask_keys(struct asker *c, enum expect expect)
{
	const char byte = AGENT_REQUEST_IDENTITIES;

	ask_up(c, (struct span){&byte, 1}, expect);
}

/* ---- which keys ------------------------------------------------------------------------------ */

static void list(struct asker *c, struct span message)
{
	AUTO_BUF struct buf keys = BUF_INIT, out = BUF_INIT;
	struct span rest, key, comment;
	uint32_t n = 0;
	int got = agent_identities(message, &rest);

	while (got >= 0 && (got = agent_next_identity(&rest, &key, &comment)) == 1) {
		AUTO_FREE char *words = xstrndup(comment.data, comment.len);
		char fingerprint[AGENT_FINGERPRINT];

		agent_fingerprint(key, fingerprint);
		if (!agent_keys_offers(c->broker->keys, &(struct agent_key){fingerprint, words}))
			continue;
		agent_put(&keys, key);
		agent_put(&keys, comment);
		n++;
	}
	if (got < 0) {
		fail(c);
		return;
	}
	buf_ch(&out, AGENT_IDENTITIES_ANSWER);
	agent_put_u32(&out, n);
	buf_add(&out, keys.data, keys.len);
	reply(c, (struct span){out.data, out.len});
}

/* ---- a signature ----------------------------------------------------------------------------- */

static struct agent_key key_of(const struct asker *c)
{
	return (struct agent_key){c->agent->fingerprint, c->agent->comment};
}

static void describe(const struct asker *c, char *out, size_t size)
{
	snprintf(out, size, "%s %.200s", c->agent->fingerprint, c->agent->comment);
}

static void refuse(struct asker *c, const char *words)
{
	struct broker_note note = {.what = BROKER_NONE, .kind = RULE_SIGN, .id = c->id};

	snprintf(note.target, sizeof(note.target), UNBOUND);
	snprintf(note.text, sizeof(note.text), "%s", words);
	broker_tell(c->broker, &note);
	fail(c);
}

static void ask_about(struct asker *c, const char *target)
{
	char words[AGENT_FINGERPRINT + 256];

	describe(c, words, sizeof(words));
	asker_asks(c, RULE_SIGN, target, words);
}

static void ask_unbound(struct asker *c, const char *otherwise)
{
	const struct agent_key key = key_of(c);

	if (agent_keys_unbound(c->broker->keys, &key))
		ask_about(c, UNBOUND);
	else
		refuse(c, otherwise);
}

static void look_up(struct asker *c);

static void on_looked_up(struct asker *c, int status, struct span said)
{
	const struct net_target *t;
	struct agent_key key;
	struct agent_state *a;

	if (!c || !c->busy)
		return;
	a = c->agent;
	key = key_of(c);
	t = agent_keys_host(c->broker->keys, &key, a->host);
	if (t && status == 0 &&
	    agent_keys_host_has(said, (struct span){a->host_key.data, a->host_key.len})) {
		char target[NET_TARGET_TEXT];

		net_target_format(t, target);
		ask_about(c, target);
		return;
	}
	a->file = !a->file;
	a->host += !a->file;
	look_up(c);
}

/* Looks the hosts up one after the other, each in both files. */
static void look_up(struct asker *c)
{
	struct agent_state *a = c->agent;
	const struct agent_key key = key_of(c);
	const struct net_target *t = agent_keys_host(c->broker->keys, &key, a->host);
	AUTO_FREE char *own = xasprintf("%s/.ssh/known_hosts", c->broker->spec->home);
	char name[KNOWN_HOST_NAME];
	const char *argv[] = {
		"ssh-keygen", "-F", name, "-f", a->file ? "/etc/ssh/ssh_known_hosts" : own, NULL};

	if (!t) {
		ask_unbound(c, "known_hosts has that server's key for none of the hosts that "
			       "ssh.agent names for this key");
		return;
	}
	agent_keys_host_name(t, name);
	job_run(c, argv, (struct span){"", 0}, on_looked_up);
}

/* Returns whether the data to sign is a login in the session of the last session-bind. */
static bool is_login(const struct agent_state *a, const struct agent_request *r)
{
	struct agent_login login;

	return a->bound && !a->forwards && agent_read_login(r->data, &login) &&
	       same(&a->session, login.session) && login.key.len == r->key.len &&
	       memcmp(login.key.data, r->key.data, r->key.len) == 0 &&
	       (!login.host_key.len || same(&a->host_key, login.host_key));
}

/* Finds the requested key among those of the user's ssh-agent. */
static bool find_key(struct asker *c, struct span message, struct span wanted)
{
	struct agent_state *a = c->agent;
	struct span rest, key, comment;
	int got = agent_identities(message, &rest);

	while (got >= 0 && (got = agent_next_identity(&rest, &key, &comment)) == 1) {
		struct agent_key named;

		if (key.len != wanted.len || memcmp(key.data, wanted.data, key.len) != 0)
			continue;
		free(a->comment);
		a->comment = xstrndup(comment.data, comment.len);
		agent_fingerprint(key, a->fingerprint);
		named = key_of(c);
		return agent_keys_offers(c->broker->keys, &named);
	}
	return false;
}

static void sign(struct asker *c, struct span keys)
{
	struct agent_state *a = c->agent;
	struct agent_request r;

	if (agent_read_request((struct span){a->message.data, a->message.len}, &r) < 0 ||
	    !find_key(c, keys, r.key)) {
		fail(c);
		return;
	}
	a->host = a->file = 0;
	if (is_login(a, &r))
		look_up(c);
	else
		ask_unbound(c, a->unchecked ? no_check
					    : "the signature is for no login to a server that is "
					      "known: ssh.agent allows that with the word unbound");
}

static void on_answered(struct asker *c, bool allow)
{
	struct agent_state *a = c->agent;

	if (allow)
		ask_up(c, (struct span){a->message.data, a->message.len}, EXPECT_SIGNED);
	else
		fail(c);
}

/* ---- answers of the user's ssh-agent ----------------------------------------------------------
 */

/* Asks for the binding of another session with the same signature, which must fail. */
static void test_bind(struct asker *c)
{
	AUTO_BUF struct buf other = BUF_INIT;
	struct agent_request r;

	buf_add(&other, c->agent->message.data, c->agent->message.len);
	if (agent_read_request((struct span){other.data, other.len}, &r) < 0) {
		fail(c);
		return;
	}
	other.data[(size_t)(r.session.data - other.data) + r.session.len - 1] ^= 1;
	ask_up(c, (struct span){other.data, other.len}, EXPECT_FAILURE);
}

static void tested(struct asker *c, struct span answer)
{
	struct agent_state *a = c->agent;

	a->unchecked = answer.data[0] != AGENT_FAILURE && answer.data[0] != AGENT_EXTENSION_FAILURE;
	if (a->unchecked)
		fail(c);
	else
		ask_up(c, (struct span){a->message.data, a->message.len}, EXPECT_BOUND);
}

static void bound(struct asker *c, struct span answer)
{
	struct agent_state *a = c->agent;
	struct agent_request r;

	if (answer.len == 1 && answer.data[0] == AGENT_SUCCESS &&
	    agent_read_request((struct span){a->message.data, a->message.len}, &r) == 0) {
		buf_clear(&a->host_key);
		buf_clear(&a->session);
		buf_add(&a->host_key, r.host_key.data, r.host_key.len);
		buf_add(&a->session, r.session.data, r.session.len);
		/* After forwarding, the client may be any program on another machine. */
		a->forwards = a->forwards || r.forwards;
		a->bound = true;
	}
	reply(c, answer);
}

static void on_up(struct asker *c, struct span message)
{
	switch (c->agent->expect) {
	case EXPECT_NOTHING:
		asker_close(c);
		return;
	case EXPECT_LIST:
		list(c, message);
		return;
	case EXPECT_KEYS:
		c->agent->expect = EXPECT_NOTHING;
		sign(c, message);
		return;
	case EXPECT_FAILURE:
		tested(c, message);
		return;
	case EXPECT_BOUND:
		bound(c, message);
		return;
	case EXPECT_SIGNED:
		if (message.data[0] == AGENT_SIGN_RESPONSE)
			reply(c, message);
		else
			fail(c);
		return;
	}
}

/* ---- the client ------------------------------------------------------------------------------ */

static void serve(struct asker *c, struct span message)
{
	struct agent_state *a = c->agent;
	struct agent_request r;

	c->busy = true;
	if (agent_read_request(message, &r) < 0) {
		fail(c);
		return;
	}
	buf_clear(&a->message);
	buf_add(&a->message, message.data, message.len);
	if (r.wish == AGENT_LIST)
		ask_keys(c, EXPECT_LIST);
	else if (r.wish == AGENT_SIGN)
		ask_keys(c, EXPECT_KEYS);
	else if (r.wish == AGENT_BIND && a->binds++ < BINDS_MAX)
		test_bind(c);
	else
		fail(c);
}

/* Serves all messages that came, in a loop instead of recursion: serve() may call this function
 * again, which then finds it busy. */
static void go_on(struct asker *c)
{
	while (!c->closing && !c->busy && !c->agent->serving) {
		AUTO_BUF struct buf whole = BUF_INIT;
		struct span message;
		int got = agent_frame(c->in.data, c->in.len, &message);

		if (got < 0)
			asker_close(c);
		if (got <= 0)
			return;
		buf_add(&whole, message.data, message.len);
		buf_drop_front(&c->in, message.len + 4);
		c->agent->serving = true;
		serve(c, (struct span){whole.data, whole.len});
		c->agent->serving = false;
	}
}

static void on_heard(struct asker *c)
{
	if (c->in.len > AGENT_MESSAGE_MAX + 4 + 4096)
		asker_close(c);
	else
		go_on(c);
}

static void on_ended(struct asker *c)
{
	asker_close(c);
}

void agent_client_start(struct asker *c)
{
	struct agent_state *a = xcalloc(1, sizeof(*a));

	a->up_in = a->message = a->host_key = a->session = (struct buf)BUF_INIT;
	uv_pipe_init(&c->broker->loop, &a->up, 0);
	a->up.data = c;
	c->agent = a;
	c->handles++;
}

void agent_client_stop(struct asker *c, uv_close_cb closed)
{
	uv_close((uv_handle_t *)&c->agent->up, closed);
}

static void on_closed(struct asker *c)
{
	struct agent_state *a = c->agent;

	if (!a)
		return;
	buf_done(&a->up_in);
	buf_done(&a->message);
	buf_done(&a->host_key);
	buf_done(&a->session);
	free(a->comment);
	free(a);
}

const struct asker_ops agent_client = {
	.heard = on_heard, .ended = on_ended, .answered = on_answered, .closed = on_closed};
