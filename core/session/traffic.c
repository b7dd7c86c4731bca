/* traffic - bytes to and from each host and port that the agent reached; limits by
 * network.bytes. */
/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "core/base/clock.h"
#include "core/base/hash.h"
#include "core/base/text.h"
#include "core/config/config.h"
#include "core/net/host.h"
#include "core/session/session_priv.h"

#define TARGETS_MAX 1000 /* later targets share one line: the agent may count through ports */
#define PERIOD_US   INT64_C(60000000) /* time between two writes; a killed session loses the rest */

/* An open connection. The model drops the oldest ones of a crowd; each of these is counted. */
struct open_flow {
	uint64_t id;
	char *target, *addr;
	bool came;		 /* from the host: no bytes of the agent's to a host */
	uint64_t sent, received; /* so far */
	UT_hash_handle hh;
};

struct traffic {
	char *target; /* HOST:PORT */
	uint64_t sent, received;
	uint64_t new_sent, new_received; /* not written to a line yet */
	UT_hash_handle hh;
};

/* Number of bytes that the agent may send to all hosts of a pattern before the user is told. */
struct byte_limit {
	struct net_pattern pattern;
	char *line; /* as in the settings: "HOST SIZE" */
	uint64_t most, sent;
	bool told;
};

static struct traffic *get(struct session *s, const char *target)
{
	static const char others[] = "(others)";
	struct traffic *t;

	HASH_FIND_STR(s->traffic, target, t);
	if (!t && HASH_COUNT(s->traffic) >= TARGETS_MAX) {
		target = others;
		HASH_FIND_STR(s->traffic, target, t);
	}
	if (t)
		return t;
	t = xcalloc(1, sizeof(*t));
	t->target = xstrdup(target);
	HASH_ADD_KEYPTR(hh, s->traffic, t->target, strlen(t->target), t);
	return t;
}

/* ---- limits ---------------------------------------------------------------------------------- */

static int read_limit(struct byte_limit *l, const char *line, struct err *err)
{
	const char *blank = strchr(line, ' '), *why = "say HOST SIZE, as in api.example.com 50m";
	AUTO_FREE char *host = blank ? xstrndup(line, (size_t)(blank - line)) : NULL;
	int64_t most = 0;

	if (!host || !config_parse_int(blank + strspn(blank, " "), &most) ||
	    !net_pattern_parse(&l->pattern, host, &why))
		return err_say(err, -EINVAL, "network.bytes '%s': %s", line, why);
	l->line = xstrdup(line);
	l->most = (uint64_t)most;
	return 0;
}

int session_read_limits(struct session *s, const struct session_spec *spec, struct err *err)
{
	const char *const *lines = NULL;
	size_t n = spec->config ? config_list(spec->config, "network.bytes", &lines) : 0;
	int r = 0;

	if (n && spec->allow_network)
		session_tell_note(s, "network.bytes is not counted in this session: connections "
				     "of --network open are direct");
	s->limits = xcalloc(n + 1, sizeof(*s->limits));
	s->n_limits = n;
	for (size_t i = 0; r == 0 && i < n; i++)
		r = read_limit(&s->limits[i], lines[i], err);
	return r;
}

static bool is_limited(const struct net_pattern *p, const struct open_flow *f)
{
	struct net_target t = {0}, at = {0};

	if (!net_target_parse(&t, f->target, NULL))
		return false;
	if (net_pattern_matches(p, &t))
		return true;
	at.port = t.port;
	return net_host_parse(&at.host, f->addr, strlen(f->addr), NULL) &&
	       net_pattern_matches(p, &at);
}

/* Returns the limit with the nearest pattern, or NULL if none fits the host or its address. */
static struct byte_limit *limit_of(struct session *s, const struct open_flow *f)
{
	struct byte_limit *best = NULL;

	for (size_t i = 0; i < s->n_limits; i++) {
		struct byte_limit *l = &s->limits[i];

		if ((!best || net_pattern_depth(&l->pattern) > net_pattern_depth(&best->pattern)) &&
		    is_limited(&l->pattern, f))
			best = l;
	}
	return best;
}

/* Counts bytes for network.bytes, and reports once that the limit is exceeded; the connection
 * stays. */
static void count_sent(struct session *s, const struct open_flow *f, uint64_t sent)
{
	struct byte_limit *l = sent && !f->came ? limit_of(s, f) : NULL;
	AUTO_FREE char *words = NULL;
	char size[32];

	if (!l)
		return;
	l->sent += sent;
	if (l->told || l->sent <= l->most)
		return;
	l->told = true;
	text_size(size, sizeof(size), l->sent);
	words = xasprintf("%s were sent to %s: more than network.bytes = %s", size, f->target,
			  l->line);
	session_audit(s, &(struct audit_entry){.event = AUDIT_EXCESS,
					       .latency_us = -1,
					       .path = f->target,
					       .detail = words});
	session_tell_note(s, words);
}

/* ---- counting -------------------------------------------------------------------------------- */

static void add(struct session *s, const char *target, uint64_t sent, uint64_t received)
{
	struct traffic *t = sent || received ? get(s, target) : NULL;

	if (!t)
		return;
	t->sent += sent;
	t->received += received;
	t->new_sent += sent;
	t->new_received += received;
}

static void drop_flow(struct session *s, struct open_flow *f)
{
	HASH_DEL(s->open_flows, f);
	free(f->target);
	free(f->addr);
	free(f);
}

void session_count_flow(struct session *s, const struct client_event *ev)
{
	struct open_flow *f;

	HASH_FIND(hh, s->open_flows, &ev->id, sizeof(ev->id), f);
	if (ev->flow == FLOW_OPEN || ev->flow == FLOW_CAME) {
		if (f) /* of a relay that died */
			drop_flow(s, f);
		f = xcalloc(1, sizeof(*f));
		f->id = ev->id;
		f->target = xstrdup(ev->path);
		f->addr = xstrdup(ev->path2);
		f->came = ev->flow == FLOW_CAME;
		HASH_ADD(hh, s->open_flows, id, sizeof(f->id), f);
		return;
	}
	if (!f)
		return;
	add(s, f->target, ev->done - f->sent, ev->total - f->received);
	count_sent(s, f, ev->done - f->sent);
	f->sent = ev->done;
	f->received = ev->total;
	if (ev->flow == FLOW_OVER)
		drop_flow(s, f);
}

void session_note_traffic(struct session *s)
{
	for (struct traffic *t = s->traffic; t; t = t->hh.next) {
		AUTO_FREE char *words = NULL;

		if (!t->new_sent && !t->new_received)
			continue;
		words = xasprintf(AUDIT_BYTES, t->new_sent, t->new_received);
		t->new_sent = t->new_received = 0;
		session_audit(s, &(struct audit_entry){.event = AUDIT_TRAFFIC,
						       .latency_us = -1,
						       .path = t->target,
						       .detail = words});
	}
	s->traffic_at = clock_mono_us() + PERIOD_US;
}

void session_tick_traffic(struct session *s)
{
	if (clock_mono_us() >= s->traffic_at)
		session_note_traffic(s);
}

void session_free_traffic(struct session *s)
{
	struct traffic *t, *next;

	while (s->open_flows)
		drop_flow(s, s->open_flows);
	HASH_ITER (hh, s->traffic, t, next) {
		HASH_DEL(s->traffic, t);
		free(t->target);
		free(t);
	}
	for (size_t i = 0; i < s->n_limits; i++)
		free(s->limits[i].line);
	free(s->limits);
}
