/* proxy_door - the keeper's side of the proxy: whose request it is, and what the rules say of it.
 */
/* SPDX-License-Identifier: MIT */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <signal.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "backends/linux/net/proxy_priv.h"
#include "core/base/clock.h"
#include "core/base/fork.h"
#include "core/base/log.h"
#include "core/keeper/flows.h"
#include "core/net/book.h"

#define WANTS_MAX 8192
#define SLOTS	  512
#define TURN_MAX  1024	  /* notes in a turn of the keeper's loop: others have a turn, too */
#define AGAIN_US  1000000 /* a proxy that died is not started again at once */
#define BACKLOG	  1024

#define AGAIN_SOON_US 1000

enum stage {
	STAGE_NAME,    /* judged by name, or asked */
	STAGE_RESOLVE, /* where the name leads */
	STAGE_ADDR,    /* judged by address, or asked */
	STAGE_DIAL,
};

/* A request that has not come to its end. */
struct want {
	struct want *next; /* of the same slot */
	uint64_t id;
	int pid;
	enum stage stage;
	struct net_target target;
	struct net_addr addr[PROXY_ADDRS];
	size_t n;
	bool by_name; /* else the client named an address */
	bool granted;
};

struct proxy_door {
	struct door door;
	struct keeper *k;
	int listener, sock; /* sock -1: no proxy runs */
	pid_t pid;
	bool watched;
	uint16_t port;
	int64_t died_us;
	char secret[PROXY_SECRET];
	char *env[PROXY_SETTINGS + 1];
	int *callers; /* by the port that a process has connected from */
	struct net_book *book;
	struct buf out; /* notes that have not been sent yet */
	struct want *slots[SLOTS];
	size_t n_wants;
};

static void watch_listener(struct proxy_door *p, bool on);
static void judge(struct proxy_door *p, struct want *w);

/* ---- requests -------------------------------------------------------------------------------- */

static struct want **find(struct proxy_door *p, uint64_t id)
{
	struct want **link = &p->slots[id % SLOTS];

	while (*link && (*link)->id != id)
		link = &(*link)->next;
	return link;
}

static void forget(struct proxy_door *p, struct want *w)
{
	struct want **link = find(p, w->id);

	*link = w->next;
	p->n_wants--;
	free(w);
}

/* What its socket has no room for goes out a moment later: the proxy reads whenever it is not dead,
 * and the end of its socket tells that. At most a few for each request. */
static void flush(struct proxy_door *p)
{
	size_t at = 0;

	while (p->sock >= 0 && at < p->out.len) {
		ssize_t n = send(p->sock, p->out.data + at, sizeof(struct proxy_note),
				 MSG_NOSIGNAL | MSG_DONTWAIT);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			break;
		at += sizeof(struct proxy_note);
	}
	buf_drop_front(&p->out, at);
	if (p->sock >= 0 && p->out.len)
		keeper_wake_at(p->k, clock_mono_us() + AGAIN_SOON_US);
}

static void tell(struct proxy_door *p, const struct proxy_note *note)
{
	if (p->sock < 0)
		return;
	buf_add(&p->out, note, sizeof(*note));
	if (p->out.len == sizeof(*note))
		flush(p);
}

static void refuse_id(struct proxy_door *p, uint64_t id, int status, const char *words)
{
	struct proxy_note note = {.what = PROXY_REFUSE, .id = id, .code = status};

	snprintf(note.name, sizeof(note.name), "%s", words);
	tell(p, &note);
}

/* Why the rules refuse it, in the words that a human reads. */
static void refuse(struct proxy_door *p, struct want *w)
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
		 reason ? reason : "it was answered with no");
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
	/* Of a thread that asks for something, what it asked for before is over: here a process
	 * may wait for many connections at a time. */
	ret->tid = -1 - (int)(w->id & 0x3fffffff);
	return 0;
}

/* ---- the steps ------------------------------------------------------------------------------- */

/* What became of a judgement. True: go on. */
static bool passes(struct proxy_door *p, struct want *w, int got)
{
	if (got == -FOLDER_HELD)
		return false;
	w->granted = false;
	if (got < 0)
		refuse(p, w);
	return got == 0;
}

static void send_want(struct proxy_door *p, const struct want *w, enum proxy_what what)
{
	struct proxy_note note = {
		.what = what, .id = w->id, .port = w->target.port, .n = (uint16_t)w->n};

	memcpy(note.addr, w->addr, sizeof(note.addr));
	tell(p, &note);
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

/* Of a name's addresses those that may be dialled; where none may, the first one is asked about. */
static void judge_addresses(struct proxy_door *p, struct want *w)
{
	struct net_addr may[PROXY_ADDRS];
	const char *reason;
	struct caller c;
	size_t n = 0;
	int got = find_caller(p, w, &c);

	for (size_t i = 0; got == 0 && i < w->n; i++)
		if (!is_ours(p, &w->addr[i], w->target.port) &&
		    policy_check_address(keeper_policy(p->k), RULE_CONNECT, &w->addr[i],
					 w->target.port, &reason) == POLICY_ALLOW)
			may[n++] = w->addr[i];
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
	if (w->target.host.is_addr) {
		dial(p, w); /* all of it was judged */
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

/* The name that speaks for an address: one that is allowed, else the newest. */
static void find_name(struct proxy_door *p, struct want *w)
{
	const struct net_addr at = w->target.host.addr;
	const char *name, *best = NULL, *reason;

	w->n = 1;
	w->addr[0] = at;
	for (size_t i = 0; (name = book_name(p->book, &at, i)) != NULL; i++) {
		struct net_target t = {.port = w->target.port};

		if (!net_host_parse(&t.host, name, strlen(name), NULL))
			continue;
		best = best ? best : name;
		if (policy_check_flow(keeper_policy(p->k), RULE_CONNECT, &t, &at, &reason) !=
		    POLICY_ALLOW)
			continue;
		best = name;
		break;
	}
	if (best)
		(void)net_host_parse(&w->target.host, best, strlen(best), NULL);
}

static void begin(struct proxy_door *p, const struct proxy_note *note)
{
	struct net_target target = {.port = note->port};
	int pid = p->callers[note->from];
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
	w->next = p->slots[w->id % SLOTS];
	p->slots[w->id % SLOTS] = w;
	p->n_wants++;
	if (!w->by_name)
		find_name(p, w);
	judge(p, w);
}

static void resolved(struct proxy_door *p, struct want *w, const struct proxy_note *note)
{
	if (w->stage != STAGE_RESOLVE)
		return;
	if (note->n == 0) { /* it has told the client */
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

static void opened(struct proxy_door *p, struct want *w, const struct proxy_note *note)
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
	forget(p, w);
}

/* ---- what the proxy says --------------------------------------------------------------------- */

static void end_proxy(struct proxy_door *p)
{
	if (p->sock >= 0) {
		keeper_unwatch(p->k, p->sock);
		util_close_fd(&p->sock);
		p->sock = -1;
	}
	if (p->pid > 0) {
		kill(p->pid, SIGKILL);
		while (waitpid(p->pid, NULL, 0) < 0 && errno == EINTR)
			continue;
	}
	p->pid = 0;
	buf_clear(&p->out);
	p->died_us = clock_mono_us();
	for (size_t i = 0; i < SLOTS; i++) {
		while (p->slots[i]) {
			keeper_request_gone(p->k, &p->door, p->slots[i]->id);
			forget(p, p->slots[i]);
		}
	}
}

static void hear(struct proxy_door *p, struct proxy_note *note)
{
	struct want *w = *find(p, note->id);

	switch ((enum proxy_what)note->what) {
	case PROXY_READY:
		if (note->code < 0)
			log_warn("net", "the proxy does not start: %s", strerror(-note->code));
		return;
	case PROXY_WANT:
		if (!w)
			begin(p, note);
		return;
	case PROXY_RESOLVED:
		if (w)
			resolved(p, w, note);
		return;
	case PROXY_OPEN:
		if (w && w->stage == STAGE_DIAL)
			opened(p, w, note);
		return;
	case PROXY_BYTES:
	case PROXY_CLOSED:
		flow_tell(p->k, &(struct flow_news){.id = note->id,
						    .state = note->what == PROXY_BYTES ? FLOW_MOVING
										       : FLOW_OVER,
						    .sent = note->sent,
						    .received = note->received});
		return;
	case PROXY_GONE:
		if (!w)
			return;
		if (w->stage == STAGE_NAME || w->stage == STAGE_ADDR)
			keeper_request_gone(p->k, &p->door, w->id);
		forget(p, w);
		return;
	case PROXY_RESOLVE:
	case PROXY_DIAL:
	case PROXY_REFUSE:
	case PROXY_END:
		return;
	}
}

static void on_proxy(void *data)
{
	struct proxy_door *p = data;

	flush(p);
	for (int i = 0; i < TURN_MAX && p->sock >= 0; i++) {
		struct proxy_note note;
		ssize_t n = recv(p->sock, &note, sizeof(note), MSG_DONTWAIT);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK))
			return;
		if (n != (ssize_t)sizeof(note)) {
			end_proxy(p);
			watch_listener(p, true);
			return;
		}
		note.name[sizeof(note.name) - 1] = '\0';
		hear(p, &note);
	}
}

static int start_proxy(struct proxy_door *p)
{
	struct proxy_spec spec = {.listener = p->listener, .secret = p->secret};
	int fds[2], r;

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, fds) < 0)
		return -errno;
	spec.sock = fds[1];
	p->pid = fork_bare();
	if (p->pid == 0)
		proxy_run(&spec);
	close(fds[1]);
	r = p->pid < 0 ? -errno : keeper_watch(p->k, fds[0], on_proxy, p);
	if (r == 0) {
		p->sock = fds[0];
		return 0;
	}
	close(fds[0]);
	if (p->pid > 0) /* it sees the end of its socket */
		waitpid(p->pid, NULL, 0);
	p->pid = 0;
	return r;
}

/* The first connection: the proxy takes it from there. */
static void on_connection(void *data)
{
	struct proxy_door *p = data;
	int r;

	if (p->died_us && clock_mono_us() - p->died_us < AGAIN_US) {
		watch_listener(p, false); /* tick() goes on */
		keeper_wake_at(p->k, p->died_us + AGAIN_US);
		return;
	}
	watch_listener(p, false);
	r = start_proxy(p);
	if (r < 0) {
		log_warn("net", "start the proxy: %s", strerror(-r));
		p->died_us = clock_mono_us();
		keeper_wake_at(p->k, p->died_us + AGAIN_US);
	}
}

static void watch_listener(struct proxy_door *p, bool on)
{
	if (p->watched == on)
		return;
	p->watched = on;
	if (!on)
		keeper_unwatch(p->k, p->listener);
	else if (keeper_watch(p->k, p->listener, on_connection, p) < 0)
		log_warn("net", "the proxy cannot be reached");
}

/* ---- the door -------------------------------------------------------------------------------- */

static struct proxy_door *self(struct door *d)
{
	return (struct proxy_door *)(void *)((char *)d - offsetof(struct proxy_door, door));
}

static int serve(struct door *d, short events)
{
	(void)d;
	(void)events;
	return 0; /* on_proxy() does */
}

static void answered(struct door *d, uint64_t id, enum door_verdict verdict)
{
	struct proxy_door *p = self(d);
	struct want *w = *find(p, id);

	if (!w || (w->stage != STAGE_NAME && w->stage != STAGE_ADDR))
		return;
	if (verdict == VERDICT_DENY || verdict == VERDICT_STOP) {
		refuse(p, w);
		return;
	}
	w->granted = verdict == VERDICT_ALLOW;
	judge(p, w);
}

static void drop_all(struct door *d)
{
	struct proxy_door *p = self(d);

	for (size_t i = 0; i < SLOTS; i++)
		while (p->slots[i])
			refuse(p, p->slots[i]);
}

static void tick(struct door *d)
{
	struct proxy_door *p = self(d);

	flush(p);
	if (p->sock >= 0 || p->watched)
		return;
	if (clock_mono_us() - p->died_us >= AGAIN_US)
		watch_listener(p, true);
	else
		keeper_wake_at(p->k, p->died_us + AGAIN_US);
}

static void end_flow(struct door *d, uint64_t id)
{
	const struct proxy_note note = {.what = PROXY_END, .id = id};

	tell(self(d), &note);
}

static void close_door(struct door *d)
{
	proxy_door_free(self(d));
}

static const struct door_ops ops = {
	.serve = serve,
	.answered = answered,
	.drop_all = drop_all,
	.tick = tick,
	.end_flow = end_flow,
	.close = close_door,
};

/* ---- life ------------------------------------------------------------------------------------ */

static int listen_here(struct proxy_door *p)
{
	struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t len = sizeof(at);

	p->listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (p->listener < 0 || bind(p->listener, (struct sockaddr *)&at, len) < 0 ||
	    listen(p->listener, BACKLOG) < 0 ||
	    getsockname(p->listener, (struct sockaddr *)&at, &len) < 0)
		return -errno;
	p->port = ntohs(at.sin_port);
	return 0;
}

static int make_env(struct proxy_door *p)
{
	static const char *const names[] = {"HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY",
					    "http_proxy", "https_proxy", "all_proxy"};
	uint8_t noise[(PROXY_SECRET - 1) / 2];
	size_t n = 0;

	if (getrandom(noise, sizeof(noise), 0) != (ssize_t)sizeof(noise))
		return -EIO;
	for (size_t i = 0; i < sizeof(noise); i++)
		snprintf(p->secret + 2 * i, 3, "%02x", noise[i]);
	for (; n < ARRAY_LEN(names); n++)
		p->env[n] = xasprintf("%s=http://" PROXY_USER ":%s@127.0.0.1:%u", names[n],
				      p->secret, p->port);
	p->env[n++] = xstrdup("NO_PROXY=localhost,127.0.0.1,::1");
	p->env[n++] = xstrdup("no_proxy=localhost,127.0.0.1,::1");
	p->env[n++] = xstrdup("NODE_USE_ENV_PROXY=1"); /* node looks at the others then */
	return 0;
}

int proxy_door_new(struct proxy_door **ret, struct keeper *k, struct err *err)
{
	struct proxy_door *p = xcalloc(1, sizeof(*p));
	int r;

	p->door = (struct door){.ops = &ops, .fd = -1};
	p->k = k;
	p->sock = p->listener = -1;
	p->book = book_new();
	p->out = (struct buf)BUF_INIT;
	p->callers = xcalloc(1 << 16, sizeof(*p->callers));
	r = listen_here(p);
	if (r == 0)
		r = make_env(p);
	if (r < 0) {
		proxy_door_free(p);
		return err_set(err, r, "make the proxy that the agent connects through");
	}
	watch_listener(p, true);
	*ret = p;
	return 0;
}

void proxy_door_free(struct proxy_door *p)
{
	if (!p)
		return;
	watch_listener(p, false);
	end_proxy(p);
	util_close_fd(&p->listener);
	for (size_t i = 0; i < PROXY_SETTINGS; i++)
		free(p->env[i]);
	free(p->callers);
	buf_done(&p->out);
	book_free(p->book);
	free(p);
}

struct door *proxy_door_of(struct proxy_door *p)
{
	return &p->door;
}

const char *const *proxy_door_env(const struct proxy_door *p)
{
	return (const char *const *)p->env;
}

uint16_t proxy_door_port(const struct proxy_door *p)
{
	return p->port;
}

void proxy_door_expect(struct proxy_door *p, uint16_t from, int pid)
{
	p->callers[from] = pid;
}
