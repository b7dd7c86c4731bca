/* fake_seatbelt - stand-ins for the rest of a keeper and of a Mac, for tests of the backend. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "backends/macos/launch/network_gate.h"
#include "backends/macos/seatbelt.h"
#include "core/base/io.h"
#include "core/base/path.h"
#include "core/config/config.h"
#include "core/keeper/flows.h"
#include "core/keeper/service.h"
#include "core/policy/policy.h"
#include "tests/support/check.h"
#include "tests/support/fake_helper.h"

/* ---- the rest of a keeper -------------------------------------------------------------------- */

#define WATCHES 64

struct keeper {
	struct policy *policy;
	struct config *config;
	struct {
		int fd;
		void (*fn)(void *data);
		void *data;
	} watch[WATCHES];
	bool exited;
	int status, agent;
	char words[4096];    /* notes and warnings, one a line */
	char services[4096]; /* services, one a line */
	struct door *door;   /* of the network */
	uint64_t held;	     /* a request that waits for the user */
	char flows[4096];    /* judgements and reports, one a line */
};

const struct policy *keeper_policy(const struct keeper *k)
{
	return k->policy;
}

const struct config *keeper_config(const struct keeper *k)
{
	return k->config;
}

void keeper_set_agent(struct keeper *k, int pid, int orphans)
{
	(void)orphans;
	k->agent = pid;
}

void keeper_agent_exited(struct keeper *k, int wait_status)
{
	assert_false(k->exited);
	k->exited = true;
	k->status = wait_status;
}

static void PRINTF_LIKE(2, 0) add_words(struct keeper *k, const char *fmt, va_list args)
{
	size_t n = strlen(k->words);

	vsnprintf(k->words + n, sizeof(k->words) - n - 1, fmt, args);
	assert_null(strchr(k->words + n, '\n'));
	strcat(k->words, "\n");
}

void keeper_note(struct keeper *k, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	add_words(k, fmt, args);
	va_end(args);
}

void keeper_warn(struct keeper *k, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	add_words(k, fmt, args);
	va_end(args);
}

void keeper_service(struct keeper *k, int pid, const char *comm, const char *operation,
		    const char *service, bool allowed)
{
	size_t n = strlen(k->services);

	assert_int_equal(pid, k->agent);
	snprintf(k->services + n, sizeof(k->services) - n, "%s %s %s %s\n", comm, operation,
		 service, allowed ? "allowed" : "denied");
}

int keeper_watch(struct keeper *k, int fd, void (*fn)(void *data), void *data)
{
	for (size_t i = 0; i < WATCHES; i++)
		if (!k->watch[i].fn) {
			k->watch[i].fd = fd;
			k->watch[i].fn = fn;
			k->watch[i].data = data;
			return 0;
		}
	return -ENOSPC;
}

void keeper_unwatch(struct keeper *k, int fd)
{
	for (size_t i = 0; i < WATCHES; i++)
		if (k->watch[i].fn && k->watch[i].fd == fd)
			k->watch[i].fn = NULL;
}

/* ---- its network ----------------------------------------------------------------------------- */

int keeper_add_door(struct keeper *k, struct door *d)
{
	k->door = d;
	return 0;
}

void keeper_wake_at(struct keeper *k, int64_t mono_us)
{
	(void)k, (void)mono_us;
}

int keeper_caller(struct keeper *k, int pid, struct caller *ret)
{
	assert_int_equal(pid, k->agent);
	*ret = (struct caller){.pid = pid, .tid = pid};
	return 0;
}

void keeper_request_gone(struct keeper *k, struct door *d, uint64_t id)
{
	(void)k, (void)d, (void)id;
}

static void add_flow(struct keeper *k, const char *what, const struct net_target *t)
{
	char text[NET_TARGET_TEXT] = "";
	size_t n = strlen(k->flows);

	if (t)
		net_target_format(t, text);
	snprintf(k->flows + n, sizeof(k->flows) - n, "%s %s\n", what, text);
}

/* Denies names that begin with "no"; the user is asked about all others. */
int flow_judge(struct keeper *k, const struct caller *c, const struct flow *f)
{
	if (!f->target->host.is_addr && str_starts(f->target->host.name, "no"))
		return -EACCES;
	add_flow(k, c->granted ? "granted" : "asked", f->target);
	if (c->granted)
		return 0;
	k->held = c->request;
	return -FOLDER_HELD;
}

int flow_judge_address(struct keeper *k, const struct caller *c, const struct flow *f)
{
	(void)k, (void)c, (void)f;
	return -EACCES;
}

bool flow_may_name(struct keeper *k, const struct caller *c, const struct flow *f,
		   const char *named)
{
	(void)k, (void)c, (void)f, (void)named;
	return true;
}

size_t flow_allowed(const struct keeper *k, const struct net_addr *addr, size_t n, uint16_t port,
		    struct net_addr *ret)
{
	(void)k, (void)port;
	memcpy(ret, addr, n * sizeof(*addr));
	return n;
}

bool flow_name_of(const struct keeper *k, const struct net_book *book, const struct net_addr *addr,
		  uint16_t port, struct net_host *ret)
{
	(void)k, (void)book, (void)addr, (void)port, (void)ret;
	return false;
}

void flow_tell(struct keeper *k, const struct flow_news *n)
{
	if (n->state != FLOW_MOVING)
		add_flow(k, n->state == FLOW_OPEN ? "open" : "over", n->target);
}

void flow_say(struct keeper *k, struct buf *said, const char *words)
{
	(void)k, (void)said, (void)words;
}

void flow_rewritten(struct keeper *k, const struct caller *c, const char *op, const char *from,
		    const char *to)
{
	size_t n = strlen(k->flows);

	assert_int_equal(c->pid, k->agent);
	snprintf(k->flows + n, sizeof(k->flows) - n, "%s %s is %s\n", op, from, to);
}

/* Runs one turn of its loop. */
UNUSED static void turn(struct keeper *k)
{
	struct pollfd p[WATCHES];

	for (size_t i = 0; i < WATCHES; i++)
		p[i] = (struct pollfd){.fd = k->watch[i].fn ? k->watch[i].fd : -1,
				       .events = POLLIN};
	if (poll(p, WATCHES, 100) <= 0)
		return;
	for (size_t i = 0; i < WATCHES; i++)
		if (p[i].revents && k->watch[i].fn && k->watch[i].fd == p[i].fd)
			k->watch[i].fn(k->watch[i].data);
}

/* ---- the rest of a Mac ----------------------------------------------------------------------- */

struct fixture {
	char base[64], *folder, *log, *program, *helper, *go;
	const char *folders[2];
	struct keeper keeper;
	struct mac_usage usage;
	enum mac_pressure pressure;
	struct mac_os os;
	struct seatbelt_host host;
	struct spawn_spec spec;
	struct door *door;
	bool strangers; /* incoming connections belong to no process inside */
	pid_t stuck;	/* a process inside that does not end; 0: none */
};

static int fake_host(void *data, struct mac_host *ret)
{
	(void)data;
	*ret = (struct mac_host){.version = "14.5", .memory = UINT64_C(16) << 30};
	return 0;
}

static int fake_usage(void *data, pid_t root, struct mac_usage *ret)
{
	(void)root;
	*ret = ((const struct fixture *)data)->usage;
	return 0;
}

static enum mac_pressure fake_pressure(void *data)
{
	return ((const struct fixture *)data)->pressure;
}

/* Lists the root as long as it lives, and the stuck process. */
static size_t fake_inside(void *data, const char *session, pid_t root, pid_t *out, size_t max)
{
	const struct fixture *f = data;
	siginfo_t info = {0};
	size_t n = 0;

	assert_string_equal(session, "test");
	assert_true(max > 1);
	if (f->stuck)
		out[n++] = f->stuck;
	if (root > 0 && waitid(P_PID, (id_t)root, &info, WEXITED | WNOHANG | WNOWAIT) == 0 &&
	    !info.si_pid)
		out[n++] = root;
	return n;
}

/* Symbolic links that every Mac has. */
static ssize_t fake_link(void *data, const char *path, char *out, size_t size)
{
	(void)data, (void)path, (void)out, (void)size;
	return -EINVAL;
}

static pid_t fake_owner(void *data, const char *session, pid_t root, uint16_t from, uint16_t to)
{
	const struct fixture *f = data;

	assert_string_equal(session, "test");
	assert_int_equal(root, f->keeper.agent);
	assert_true(from && to);
	return f->strangers ? 0 : root;
}

/* For the helper, which has no session. */
UNUSED static size_t inside_nobody(void *data, const char *session, pid_t root, pid_t *out,
				   size_t max)
{
	(void)data, (void)session, (void)root, (void)out, (void)max;
	return 0;
}

UNUSED static char *write_script(const struct fixture *f, const char *name, const char *text)
{
	char *path = path_join(f->base, name);
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0755);

	assert_int_equal(io_write_all(fd, text, strlen(text)), 0);
	close(fd);
	return path;
}

UNUSED static int setup(void **state)
{
	static const char *const env[] = {"PATH=/usr/bin:/bin", "CORDON_SESSION=test",
					  "XDG_CACHE_HOME=" CACHE_INSIDE "/x", NULL};
	struct fixture *f = xcalloc(1, sizeof(*f));
	struct policy_spec about = {.home = "/home/u", .folders = f->folders};

	snprintf(f->base, sizeof(f->base), "/tmp/cordon-session-XXXXXX");
	assert_non_null(mkdtemp(f->base));
	f->folder = path_join(f->base, "folder");
	f->go = path_join(f->base, "go");
	assert_int_equal(chmod(f->base, 0755), 0);
	assert_int_equal(mkdir(f->folder, 0700), 0);
	f->folders[0] = f->folder;
	about.config = f->keeper.config = config_of_rules();
	assert_int_equal(policy_new(&f->keeper.policy, &about, NULL), 0);
	f->program = write_script(f, "sandbox-exec",
				  "#!/bin/sh\nwhile [ \"$1\" != -- ]; do shift; done\nshift\n"
				  "BY=sandbox-exec exec \"$@\"\n");
	f->helper = helper_write(f->base, "");
	f->log = write_script(f, "log", "#!/bin/sh\nexec sleep 300\n");
	f->os = (struct mac_os){.data = f,
				.owner_of_port = fake_owner,
				.look_at_host = fake_host,
				.read_link = fake_link,
				.usage = fake_usage,
				.pressure = fake_pressure,
				.list_inside = fake_inside};
	f->host = (struct seatbelt_host){
		.os = &f->os, .helper = f->helper, .sandbox_exec = f->program, .log = f->log};
	f->spec = (struct spawn_spec){.env = env,
				      .cwd = "/",
				      .home = "/home/u",
				      .stdio = {open("/dev/null", O_RDWR | O_CLOEXEC), 1, 2},
				      .folders = f->folders,
				      .state_dir = f->base,
				      .session = "test"};
	*state = f;
	return 0;
}

UNUSED static int teardown(void **state)
{
	struct fixture *f = *state;

	for (size_t i = 0; i < WATCHES; i++)
		assert_null(f->keeper.watch[i].fn);
	assert_int_equal(io_remove_tree(AT_FDCWD, f->base), 0);
	close(f->spec.stdio[0]);
	policy_free(f->keeper.policy);
	config_free(f->keeper.config);
	free(f->folder);
	free(f->log);
	free(f->program);
	free(f->helper);
	free(f->go);
	free(f);
	return 0;
}

UNUSED static struct sandbox *begin(struct fixture *f, const char *const *argv)
{
	struct sandbox *sb = NULL;
	struct err err = {0};
	int status;

	f->spec.argv = argv;
	if (seatbelt_launch(&f->host, &sb, &f->door, &f->spec, &f->keeper, &status, &err) < 0)
		fail_msg("%s", err.text);
	assert_true(f->keeper.agent > 1);
	return sb;
}
