/* proxy_want - a request to the proxy in the keeper: the caller, and the verdict of the rules. */
/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <string.h>

#include "core/proxy/proxy_door_priv.h"
#include "core/keeper/flows.h"
#include "core/net/upstream.h"

#define WANTS_MAX 8192

static void judge(struct proxy_door *p, struct want *w);

static struct want **link_of(struct proxy_door *p, uint64_t id)
{
	struct want **link = &p->slots[id % WANT_SLOTS];

	while (*link && (*link)->id != id)
		link = &(*link)->next;
	return link;
}

static void forget(struct proxy_door *p, struct want *w)
{
	struct want **link = link_of(p, w->id);

	*link = w->next;
	p->n_wants -= w->stage != STAGE_OPEN;
	free(w);
}

static void refuse_id(struct proxy_door *p, uint64_t id, int status, const char *words)
{
	struct proxy_note note = {.what = PROXY_REFUSE, .id = id, .code = status};

	snprintf(note.name, sizeof(note.name), "%s", words);
	proxy_door_tell(p, &note);
}

/* Refuses a request, with the reason in words for the user: the answer, or the rules' reason. */
static void refuse(struct proxy_door *p, struct want *w, const char *answer)
{
	const struct policy *policy = keeper_policy(p->k);
	const struct net_addr *addr = w->n ? &w->addr[0] : NULL;
	char text[NET_TARGET_TEXT], words[NET_NAME_MAX];
	const char *reason = NULL;

	if (policy_check_flow(policy, RULE_CONNECT, &w->target, addr, &reason) == POLICY_ALLOW &&
	    (!addr || policy_check_address(policy, RULE_CONNECT, addr, w->target.port, &reason) ==
			      POLICY_ALLOW))
		reason = NULL;
	net_target_format(&w->target, text);
	snprintf(words, sizeof(words), "connecting to %.120s was refused: %.80s", text,
		 answer	  ? answer
		 : reason ? reason
			  : "it may not be reached");
	refuse_id(p, w->id, 403, words);
	forget(p, w);
}

static int find_caller(struct proxy_door *p, const struct want *w, struct caller *ret)
{
	int got = keeper_caller(p->k, w->pid, ret);

	if (got < 0)
		return got;
	ret->door = &p->door;
	ret->request = w->id;
	ret->granted = w->granted;
	ret->op = "connect";
	/* For a thread a new request would end its earlier one, but here a process may wait for
	 * many connections at a time. */
	ret->tid = -1 - (int)(w->id & 0x3fffffff);
	return 0;
}

/* ---- the steps ------------------------------------------------------------------------------- */

/* Acts on the result of a judgement. Returns true if the request goes on. */
static bool passes(struct proxy_door *p, struct want *w, int got)
{
	if (got == -FOLDER_HELD)
		return false;
	w->granted = false;
	if (got < 0)
		refuse(p, w, NULL);
	return got == 0;
}

static void send_want(struct proxy_door *p, const struct want *w, enum proxy_what what)
{
	struct proxy_note note = {
		.what = what, .id = w->id, .port = w->target.port, .n = (uint16_t)w->n};

	memcpy(note.addr, w->addr, sizeof(note.addr));
	proxy_door_tell(p, &note);
}

static void dial(struct proxy_door *p, struct want *w)
{
	w->stage = STAGE_DIAL;
	send_want(p, w, PROXY_DIAL);
}

static bool is_ours(const struct proxy_door *p, const struct net_addr *a, uint16_t port)
{
	return port == p->port && policy_is_own_address(a);
}

/* Keeps the addresses of a name that may be dialled. If none may, asks about the first one. */
static void judge_addresses(struct proxy_door *p, struct want *w)
{
	struct net_addr others[PROXY_ADDRS], may[PROXY_ADDRS];
	struct caller c;
	size_t n_others = 0, n = 0;
	int got = find_caller(p, w, &c);

	for (size_t i = 0; i < w->n; i++)
		if (!is_ours(p, &w->addr[i], w->target.port))
			others[n_others++] = w->addr[i];
	if (got == 0)
		n = flow_allowed(p->k, others, n_others, w->target.port, may);
	if (got == 0 && n == 0) {
		got = is_ours(p, &w->addr[0], w->target.port)
			      ? -EACCES
			      : flow_judge_address(p->k, &c,
						   &(struct flow){&w->target, &w->addr[0]});
		may[n++] = w->addr[0];
	}
	if (!passes(p, w, got))
		return;
	w->n = n;
	memcpy(w->addr, may, n * sizeof(may[0]));
	dial(p, w);
}

static void judge_name(struct proxy_door *p, struct want *w)
{
	const struct flow f = {&w->target, w->n > 0 ? &w->addr[0] : NULL};
	struct caller c;
	int got = find_caller(p, w, &c);

	if (got == 0 && w->n > 0 && is_ours(p, &w->addr[0], w->target.port))
		got = -EACCES;
	if (got == 0)
		got = flow_judge(p->k, &c, &f);
	if (!passes(p, w, got))
		return;
	if (upstream_for(&w->target) && (w->by_name || w->target.host.is_addr)) {
		w->n = 0; /* the upstream proxy looks the host up by name */
		dial(p, w);
	} else if (w->target.host.is_addr) {
		dial(p, w); /* all parts are judged */
	} else if (w->by_name) {
		w->stage = STAGE_RESOLVE;
		send_want(p, w, PROXY_RESOLVE);
	} else {
		w->stage = STAGE_ADDR;
		judge_addresses(p, w);
	}
}

static void judge(struct proxy_door *p, struct want *w)
{
	if (w->stage == STAGE_NAME)
		judge_name(p, w);
	else if (w->stage == STAGE_ADDR)
		judge_addresses(p, w);
}

/* Finds the name to judge an address by. */
static void find_name(struct proxy_door *p, struct want *w)
{
	const struct net_addr at = w->target.host.addr;

	w->n = 1;
	w->addr[0] = at;
	(void)flow_name_of(p->k, p->book, &at, w->target.port, &w->target.host);
}

void want_begin(struct proxy_door *p, const struct proxy_note *note)
{
	struct net_target target = {.port = note->port};
	int pid = proxy_door_caller(p, note->from);
	struct want *w;

	if (!pid || note->port == 0 ||
	    !net_host_parse(&target.host, note->name, strlen(note->name), NULL)) {
		refuse_id(p, note->id, 403, "this proxy serves programs inside the sandbox alone");
		return;
	}
	if (p->n_wants >= WANTS_MAX) {
		refuse_id(p, note->id, 503, "too many connections are asked for at a time");
		return;
	}
	w = xcalloc(1, sizeof(*w));
	w->id = note->id;
	w->pid = pid;
	w->target = target;
	w->by_name = !target.host.is_addr;
	w->next = p->slots[w->id % WANT_SLOTS];
	p->slots[w->id % WANT_SLOTS] = w;
	p->n_wants++;
	if (!w->by_name)
		find_name(p, w);
	judge(p, w);
}

void want_resolved(struct proxy_door *p, struct want *w, const struct proxy_note *note)
{
	if (w->stage != STAGE_RESOLVE)
		return;
	if (note->n == 0) { /* the proxy has told the client */
		forget(p, w);
		return;
	}
	w->n = MIN(note->n, (uint16_t)PROXY_ADDRS);
	memcpy(w->addr, note->addr, sizeof(w->addr));
	for (size_t i = 0; i < w->n; i++)
		book_note(p->book, w->target.host.name, &w->addr[i]);
	w->stage = STAGE_ADDR;
	judge_addresses(p, w);
}

void want_opened(struct proxy_door *p, struct want *w, const struct proxy_note *note)
{
	struct flow_news news = {
		.id = w->id, .state = FLOW_OPEN, .target = &w->target, .addr = &note->addr[0]};
	struct caller c;

	if (find_caller(p, w, &c) == 0)
		news.caller = &c;
	if (policy_check_flow(keeper_policy(p->k), RULE_CONNECT, &w->target, &note->addr[0],
			      &news.why) != POLICY_ALLOW)
		news.why = "your answer";
	flow_tell(p->k, &news);
	w->stage = STAGE_OPEN;
	p->n_wants--;
}

void want_named(struct proxy_door *p, const struct want *w, const struct proxy_note *note)
{
	struct proxy_note answer = {.what = PROXY_END, .id = note->id};
	struct caller c;

	if (!w || find_caller(p, w, &c) < 0)
		c = (struct caller){0};
	/* With n 0, the name leads where the upstream proxy says. */
	if (w && w->stage == STAGE_OPEN &&
	    flow_may_name(p->k, &c, &(struct flow){&w->target, w->n ? &w->addr[0] : NULL},
			  note->name))
		answer.what = PROXY_PASS;
	proxy_door_tell(p, &answer);
}

struct want *want_find(struct proxy_door *p, uint64_t id)
{
	return *link_of(p, id);
}

void want_gone(struct proxy_door *p, struct want *w)
{
	if (w->stage == STAGE_NAME || w->stage == STAGE_ADDR)
		keeper_request_gone(p->k, &p->door, w->id);
	forget(p, w);
}

void want_answered(struct proxy_door *p, uint64_t id, enum door_verdict verdict)
{
	struct want *w = want_find(p, id);

	if (!w || (w->stage != STAGE_NAME && w->stage != STAGE_ADDR))
		return;
	if (verdict == VERDICT_DENY || verdict == VERDICT_STOP) {
		refuse(p, w,
		       verdict == VERDICT_DENY ? "the human denied it" : "its step was refused");
		return;
	}
	w->granted = verdict == VERDICT_ALLOW;
	judge(p, w);
}

void wants_drop(struct proxy_door *p)
{
	for (size_t i = 0; i < WANT_SLOTS; i++) {
		struct want *w = p->slots[i], *next;

		for (; w; w = next) {
			next = w->next;
			if (w->stage != STAGE_OPEN)
				refuse(p, w, "the session ends");
		}
	}
}
