/* test_macos_session - a session under Seatbelt, with stand-ins for the system, its programs and
 * the keeper. */
/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "backends/macos/alias/ensure.h"
#include "backends/macos/launch/network_gate.h"
#include "backends/macos/seatbelt.h"
#include "backends/macos/throttle.h"
#include "core/base/io.h"
#include "core/base/path.h"
#include "core/config/config.h"
#include "core/keeper/flows.h"
#include "core/keeper/service.h"
#include "core/os/file.h"
#include "core/policy/policy.h"

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
	char words[4096];    /* notes and warnings, a line each */
	char services[4096]; /* the same for services */
	struct door *door;   /* of the network */
	uint64_t held;	     /* a request that waits for the human */
	char flows[4096];    /* what was judged and told, a line each */
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

/* Names that begin with "no" are denied, all others asked about. */
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

void flow_rewritten(struct keeper *k, const struct caller *c, const char *op, const char *from,
		    const char *to)
{
	size_t n = strlen(k->flows);

	assert_int_equal(c->pid, k->agent);
	snprintf(k->flows + n, sizeof(k->flows) - n, "%s %s is %s\n", op, from, to);
}

/* One turn of its loop. */
static void turn(struct keeper *k)
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
	char base[64], *folder, *log, *program, *go;
	const char *folders[2];
	struct keeper keeper;
	struct mac_usage usage;
	enum mac_pressure pressure;
	struct mac_os os;
	struct seatbelt_host host;
	struct spawn_spec spec;
	struct door *door;
	bool strangers; /* nobody inside has the connections that come */
};

static int fake_deny(void *data)
{
	(void)data;
	return 0;
}

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

/* The root alone, as long as it lives. */
static size_t fake_inside(void *data, const char *session, pid_t root, pid_t *out, size_t max)
{
	siginfo_t info = {0};

	(void)data;
	assert_string_equal(session, "test");
	if (root <= 0 || !max ||
	    waitid(P_PID, (id_t)root, &info, WEXITED | WNOHANG | WNOWAIT) < 0 || info.si_pid)
		return 0;
	out[0] = root;
	return 1;
}

/* As every Mac has them. */
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

/* Of the proxy's process. */
static int fake_apply(void *data, const char *profile, const char *const *params, char *why,
		      size_t size)
{
	(void)data, (void)why, (void)size;
	return str_eq(profile, network_gate_profile) && str_eq(params[0], "HOME") &&
			       str_eq(params[1], "/home/u")
		       ? 0
		       : -EPERM;
}

static char *write_script(const struct fixture *f, const char *name, const char *text)
{
	char *path = path_join(f->base, name);
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0755);

	assert_int_equal(io_write_all(fd, text, strlen(text)), 0);
	close(fd);
	return path;
}

static int setup(void **state)
{
	static const char *const env[] = {"PATH=/usr/bin:/bin", "CORDON_SESSION=test",
					  "XDG_CACHE_HOME=" CACHE_INSIDE "/x", NULL};
	struct fixture *f = xcalloc(1, sizeof(*f));
	struct policy_spec about = {.home = "/home/u", .folders = f->folders};

	snprintf(f->base, sizeof(f->base), "/tmp/cordon-session-XXXXXX");
	assert_non_null(mkdtemp(f->base));
	f->folder = path_join(f->base, "folder");
	f->go = path_join(f->base, "go");
	assert_int_equal(mkdir(f->folder, 0700), 0);
	f->folders[0] = f->folder;
	about.config = f->keeper.config = config_of_rules();
	assert_int_equal(policy_new(&f->keeper.policy, &about, NULL), 0);
	f->program = write_script(f, "sandbox-exec",
				  "#!/bin/sh\nwhile [ \"$1\" != -- ]; do shift; done\nshift\n"
				  "exec \"$@\"\n");
	f->log = write_script(f, "log", "#!/bin/sh\nexec sleep 300\n");
	f->os = (struct mac_os){.data = f,
				.apply = fake_apply,
				.owner_of_port = fake_owner,
				.deny_attach = fake_deny,
				.look_at_host = fake_host,
				.read_link = fake_link,
				.usage = fake_usage,
				.pressure = fake_pressure,
				.list_inside = fake_inside};
	f->host = (struct seatbelt_host){.os = &f->os, .sandbox_exec = f->program, .log = f->log};
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

static int teardown(void **state)
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
	free(f->go);
	free(f);
	return 0;
}

static struct sandbox *begin(struct fixture *f, const char *const *argv)
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

/* ---- a session ------------------------------------------------------------------------------- */

/* The log tells when the agent's number is known; the agent ends when the last line was told. */
static void a_session(void **state)
{
	struct fixture *f = *state;
	AUTO_FREE char *command =
		xasprintf("env >%s/env; echo $$ >%s/pid.new; mv %s/pid.new %s/pid; "
			  "until [ -e %s ]; do sleep 0.02; done; exit 7",
			  f->base, f->base, f->base, f->base, f->go);
	AUTO_FREE char *log = xasprintf(
		"#!/bin/sh\n[ \"$1 $2 $3\" = 'stream --style ndjson' ] || exit\n"
		"until [ -e %s/pid ]; do sleep 0.02; done\nread -r p <%s/pid\n"
		"say() { printf '{\"eventMessage\":\"Sandbox: %%s(%%s) %%s %%s\"}\\n' \"$@\"; }\n"
		"echo 'Filtering the log data using ...'\n"
		"say node $p 'deny(1) mach-lookup' com.apple.fonts\n"
		"say node 1 'deny(1) mach-lookup' com.apple.others\n"
		"say node $p 'deny(1) file-read-data' /x\n"
		"say node $p 'deny(1) mach-lookup' \"$(printf '%%070000d' 0)\"\n"
		"say node $p 'deny(1) mach-lookup' com.apple.last\nexec sleep 300\n",
		f->base, f->base);
	const char *const argv[] = {"sh", "-c", command, NULL};
	AUTO_FREE char *env_path = path_join(f->base, "env"), *env = NULL;
	size_t len = 0;
	struct sandbox *sb;

	free(write_script(f, "log", log));
	f->spec.cache = f->folder;
	f->spec.limits.processes = 50;
	sb = begin(f, argv);
	while (!strstr(f->keeper.services, "com.apple.last")) /* or the test's own time limit */
		turn(&f->keeper);
	close(open(f->go, O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
	while (!f->keeper.exited)
		turn(&f->keeper);
	assert_int_equal(WEXITSTATUS(f->keeper.status), 7);
	assert_string_equal(f->keeper.services, "node mach-lookup com.apple.fonts denied\n"
						"node mach-lookup com.apple.last denied\n");
	assert_non_null(strstr(f->keeper.words, "there is no undo"));
	assert_non_null(strstr(f->keeper.words, "no RLIMIT_NPROC"));
	assert_int_equal(io_read_file(AT_FDCWD, env_path, 1u << 20, &env, &len), 0);
	assert_null(strstr(env, CACHE_INSIDE));
	assert_non_null(strstr(env, "/folder/x\n"));
	assert_non_null(strstr(env, "TMPDIR=/tmp/cordon-"));
	seatbelt_stop(sb);
}

/* A word that an agent is to be told stays what it is: the program of the log is no part of it. */
static void without_a_log(void **state)
{
	static const char *const argv[] = {"sh", "-c", "kill -9 $$", NULL};
	struct fixture *f = *state;
	struct sandbox *sb;

	f->host.log = "/nonexistent/log";
	sb = begin(f, argv);
	while (!f->keeper.exited)
		turn(&f->keeper);
	assert_int_equal(WTERMSIG(f->keeper.status), SIGKILL);
	assert_null(strstr(f->keeper.words, "RLIMIT_NPROC")); /* nobody has set one */
	assert_non_null(strstr(f->keeper.words, "/nonexistent/log"));
	seatbelt_stop(sb);
}

static void above_its_quota(void **state)
{
	static const char *const argv[] = {"sleep", "300", NULL};
	struct fixture *f = *state;
	struct sandbox *sb;

	f->usage.resident = UINT64_C(15) << 30;
	sb = begin(f, argv);
	while (!f->keeper.exited)
		turn(&f->keeper);
	assert_int_equal(WTERMSIG(f->keeper.status), SIGKILL);
	assert_non_null(strstr(f->keeper.words, "the session is ended: it uses 15"));
	seatbelt_stop(sb);
}

static void refusals(void **state)
{
	static const char *const none[] = {"no-such-program-here", NULL};
	static const char *const over[] = {"/x", NULL};
	struct fixture *f = *state;
	struct sandbox *sb = NULL;
	struct err err = {0};
	int status = 0;

	f->host.sandbox_exec = "/nonexistent/sandbox-exec";
	f->spec.argv = none;
	assert_int_equal(
		seatbelt_launch(&f->host, &sb, &f->door, &f->spec, &f->keeper, &status, &err),
		-ENOENT);
	assert_int_equal(status, 127);
	f->host.sandbox_exec = NULL;
	assert_int_equal(
		seatbelt_launch(&f->host, &sb, &f->door, &f->spec, &f->keeper, &status, &err),
		-ENOENT);
	assert_int_equal(status, 127);
	f->spec.overlays = over;
	assert_int_equal(
		seatbelt_launch(&f->host, &sb, &f->door, &f->spec, &f->keeper, &status, &err),
		-EOPNOTSUPP);
	assert_int_equal(status, 125);
	assert_non_null(strstr(err.text, "--overlay"));
	f->spec.overlays = NULL;
	f->spec.ask_network = true; /* and of the proxy nothing is left, either */
	assert_int_equal(
		seatbelt_launch(&f->host, &sb, &f->door, &f->spec, &f->keeper, &status, &err),
		-ENOENT);
	assert_null(f->keeper.door);
	assert_null(sb);
}

/* ---- the network ----------------------------------------------------------------------------- */

/* Says "ping" to a host through the proxy that its environment names; what it hears is in `out`. */
static char *say_ping(const struct fixture *f, const char *host, int port)
{
	AUTO_FREE char *text = xasprintf(
		"#!/bin/bash\ncred=${HTTPS_PROXY#http://} at=${HTTPS_PROXY##*@}; cred=${cred%%@*}\n"
		"exec 3<>/dev/tcp/${at%%:*}/${at#*:}\n"
		"printf 'CONNECT %s:%d HTTP/1.1\\r\\nProxy-Authorization: Basic "
		"%%s\\r\\n\\r\\nping' "
		"\"$(printf %%s \"$cred\" | base64 -w0)\" >&3\ncat <&3 >%s/out\n",
		host, port, f->base);

	return write_script(f, "ping", text);
}

static int listen_here(int *ret_port)
{
	struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t len = sizeof(at);
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	assert_int_equal(bind(fd, (struct sockaddr *)&at, len), 0);
	assert_int_equal(listen(fd, 1), 0);
	assert_int_equal(getsockname(fd, (struct sockaddr *)&at, &len), 0);
	*ret_port = ntohs(at.sin_port);
	return fd;
}

static void run_ping(struct fixture *f, const char *host, int port, int listener)
{
	AUTO_FREE char *script = say_ping(f, host, port);
	const char *const argv[] = {script, NULL};
	struct sandbox *sb;
	char got[5] = "";
	int fd = -1;

	f->spec.ask_network = true;
	sb = begin(f, argv);
	assert_non_null(f->keeper.door);
	while (!f->keeper.exited) {
		struct pollfd p = {.fd = listener, .events = POLLIN};

		turn(&f->keeper);
		if (f->keeper.held) {
			uint64_t id = f->keeper.held;

			f->keeper.held = 0;
			f->keeper.door->ops->answered(f->keeper.door, id, VERDICT_ALLOW);
		}
		if (fd < 0 && poll(&p, 1, 0) == 1) {
			fd = accept(listener, NULL, NULL);
			assert_int_equal(recv(fd, got, 4, MSG_WAITALL), 4);
			assert_string_equal(got, "ping");
			assert_int_equal(send(fd, "pong", 4, MSG_NOSIGNAL), 4);
			close(fd);
		}
	}
	seatbelt_stop(sb);
	f->keeper.door->ops->close(f->keeper.door); /* as the keeper does */
	f->keeper.door = NULL;
	f->keeper.exited = false;
}

static char *what_it_heard(const struct fixture *f)
{
	AUTO_FREE char *path = path_join(f->base, "out");
	char *text = NULL;
	size_t len = 0;

	assert_int_equal(io_read_file(AT_FDCWD, path, 1u << 16, &text, &len), 0);
	return text;
}

/* The agent's one way out: judged by name, asked about, dialled and told of. */
static void the_network(void **state)
{
	struct fixture *f = *state;
	AUTO_FREE char *heard = NULL, *denied = NULL, *strange = NULL, *flows = NULL;
	int port, listener = listen_here(&port);

	run_ping(f, "localhost", port, listener);
	heard = what_it_heard(f);
	assert_true(str_starts(heard, "HTTP/1.1 200 "));
	assert_non_null(strstr(heard, "\r\n\r\npong"));
	flows = xasprintf("asked localhost:%d\ngranted localhost:%d\nopen localhost:%d\n", port,
			  port, port);
	assert_true(str_starts(f->keeper.flows, flows));
	run_ping(f, "nowhere.example", port, listener);
	denied = what_it_heard(f);
	assert_true(str_starts(denied, "HTTP/1.1 403 "));
	assert_non_null(strstr(denied, "nowhere.example"));
	/* Who knows the secret and is none of the session's. */
	f->strangers = true;
	run_ping(f, "localhost", port, listener);
	strange = what_it_heard(f);
	assert_true(str_starts(strange, "HTTP/1.1 403 "));
	assert_non_null(strstr(strange, "programs inside the sandbox alone"));
	close(listener);
}

/* The preload library of this system, as it was built. */
static char *library(void)
{
	static const char *const places[] = {"../../interpose.so", "../../../release/interpose.so"};
	AUTO_FREE char *self = os_self_copy();
	char *found = NULL;

	*strrchr(self, '/') = '\0';
	for (size_t i = 0; i < ARRAY_LEN(places) && !found; i++) {
		AUTO_FREE char *path = path_join(self, places[i]);

		found = realpath(path, NULL);
	}
	assert_non_null(found);
	return found;
}

/* The first of so many ports that nobody has: other tests run beside this one. */
static uint16_t free_ports(unsigned count)
{
	unsigned base = 20000 + (unsigned)getpid() * 37 % 10000;

	for (unsigned n = 0; n < count;) {
		const struct sockaddr_in at = {.sin_family = AF_INET,
					       .sin_port = htons((uint16_t)(base + n))};
		int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
		bool free = bind(fd, (const struct sockaddr *)&at, sizeof(at)) == 0;
		close(fd);
		base += free ? 0 : n + 1;
		n = free ? n + 1 : 0;
	}
	return (uint16_t)base;
}

/* What `calls` print in Python, in a session with a window of this many ports. */
static char *python(struct fixture *f, enum window_strategy strategy, uint16_t count,
		    const char *calls)
{
	AUTO_FREE char *interpose = library();
	AUTO_FREE char *text =
		xasprintf("#!/bin/sh\nexport LD_PRELOAD=$DYLD_INSERT_LIBRARIES\nexec python3 - "
			  ">%s/out <<'P'\n"
			  "import errno, os, socket\nkeep = []\n"
			  "def at(port):\n"
			  "    s = socket.socket()\n"
			  "    try: s.bind(('127.0.0.1', port))\n"
			  "    except OSError as e: return errno.errorcode[e.errno]\n"
			  "    s.listen(); keep.append(s); c = "
			  "socket.create_connection(('127.0.0.1', port))\n"
			  "    rows = [l.split() for l in open('/proc/net/tcp')]\n"
			  "    inode = os.readlink('/proc/self/fd/%%d' %% s.fileno())[8:-1]\n"
			  "    real = [r[1].split(':') for r in rows if r[9] == inode][0]\n"
			  "    return s.getsockname()[1], int(real[1], 16), real[0]\n%s\nP\n",
			  f->base, calls);
	AUTO_FREE char *script = write_script(f, "python", text);
	const char *const argv[] = {script, NULL};
	struct err err = {0};
	struct sandbox *sb;
	int lock = -1;

	f->spec.window = (struct net_window){.on = true,
					     .strategy = strategy,
					     .base = free_ports(count),
					     .count = count,
					     .device = net_addr_v4(INADDR_LOOPBACK)};
	assert_int_equal(window_reserve(&f->spec.window, f->base, &lock, &err), 0);
	f->host.interpose = interpose;
	sb = begin(f, argv);
	while (!f->keeper.exited)
		turn(&f->keeper);
	seatbelt_stop(sb);
	close(lock);
	return what_it_heard(f);
}

static void ports_of_its_own(void **state)
{
	struct fixture *f = *state;
	AUTO_FREE char *heard = python(f, WINDOW_PORT, 2,
				       "print(at(3000), at(3000), at(3001), at(3002))\n"
				       "print(at(65535), at(1))");
	unsigned base = f->spec.window.base;
	AUTO_FREE char *want = xasprintf("(3000, %u, '0100007F') EADDRINUSE (3001, %u, '0100007F') "
					 "EADDRINUSE\nEADDRINUSE EADDRINUSE\n",
					 base + 1, base);
	AUTO_FREE char *flows = xasprintf("bind localhost:3000 is localhost:%u\n"
					  "bind localhost:3001 is localhost:%u\n",
					  base + 1, base);

	assert_string_equal(heard, want);
	assert_string_equal(f->keeper.flows, flows);
}

/* Whoever fiddles with what lies in the session's directory has no ports; the keeper goes on. */
static void ports_that_were_fiddled_with(void **state)
{
	struct fixture *f = *state;
	AUTO_FREE char *heard = python(
		f, WINDOW_PORT, 4,
		"import fcntl, struct, time\nmap = os.environ['CORDON_PORT_MAP']\n"
		"sock = os.environ['CORDON_PORT_SOCKET']\n"
		"def ask(data):\n"
		"    c = socket.socket(socket.AF_UNIX); c.connect(sock); c.sendall(data)\n"
		"    c.shutdown(socket.SHUT_WR); return c.recv(9)\n"
		"print(ask(b''), ask(b'x'), ask(struct.pack('H', 0)) == bytes([errno.EINVAL]))\n"
		"idle = [socket.socket(socket.AF_UNIX) for i in range(200)]\n"
		"for c in idle: c.connect(sock)\n"
		"print(ask(struct.pack('H', 3000)), at(3000)[0])\n"
		"f = os.open(map, os.O_RDWR); os.pwrite(f, struct.pack('I', 7), 12)\n"
		"print(at(3000), at(3001), ask(struct.pack('H', 3001)) == bytes([errno.EIO]))\n"
		"os.unlink(map); os.unlink(sock); print(at(3000), at(3001))");

	assert_string_equal(heard,
			    "b'' b'' True\nb'\\x00' 3000\nEACCES EACCES True\nEACCES EACCES\n");
}

static void a_device_of_its_own(void **state)
{
	struct fixture *f = *state;
	AUTO_FREE char *none = NULL, *heard = NULL;
	static const char *const env[] = {"PATH=/usr/bin:/bin", "CORDON_SESSION=test",
					  "LISTENING_LOOPBACK_DEVICE=127.0.0.77", NULL};

	f->spec.env = env; /* as core/session sets it */
	heard = python(
		f, WINDOW_DEVICE, 2,
		"s = socket.socket(); s.bind(('127.0.0.1', 0)); p = s.getsockname()[1]; s.close()\n"
		"a = at(p); print(a[0] == p == a[1], a[2])");
	assert_string_equal(heard, "True 4D00007F\n");
	f->keeper.exited = false;
	none = python(f, WINDOW_FAIL, 2, "print(os.environ.get('LD_PRELOAD'))");
	assert_string_equal(none, "\n"); /* the script's own, empty */
}

/* The helper is run once, with the address alone, and is not believed. */
static void an_address_that_is_not_there(void **state)
{
	static const char *const none[] = {"true", NULL};
	static const struct {
		const char *does, *words;
	} known[] = {
		{"exit 0", "does not add it"},
		{"exit 3", "is not root's and setuid"},
		{"kill -9 $$", "does not add it"},
	};
	struct fixture *f = *state;
	AUTO_FREE char *log_path = path_join(f->base, "ran"), *log = NULL;
	struct net_addr device = net_addr_v4(0xc0000201); /* 192.0.2.1 */
	struct err err = {0};
	size_t len;

	f->spec.argv = none;
	f->spec.window = (struct net_window){
		.on = true, .base = 61000, .count = 2, .device = device, .own_device = true};
	for (size_t i = 0; i < ARRAY_LEN(known); i++) {
		AUTO_FREE char *text =
			xasprintf("#!/bin/sh\necho \"$# $1 ${HOME-none}\" >>%s\n%s\n", log_path,
				  known[i].does);
		AUTO_FREE char *helper = write_script(f, "helper", text);
		struct sandbox *sb = NULL;
		int status;

		f->host.loopback = helper;
		assert_int_equal(seatbelt_launch(&f->host, &sb, &f->door, &f->spec, &f->keeper,
						 &status, &err),
				 -EADDRNOTAVAIL);
		assert_int_equal(status, 125);
		assert_non_null(strstr(err.text, known[i].words));
		assert_non_null(strstr(err.text, "sudo ifconfig lo0 alias 192.0.2.1"));
	}
	assert_int_equal(io_read_file(AT_FDCWD, log_path, 4096, &log, &len), 0);
	assert_string_equal(log, "1 192.0.2.1 none\n1 192.0.2.1 none\n1 192.0.2.1 none\n");
	device = net_addr_v4(0x7f00004d);
	assert_int_equal(alias_ensure(&device, "/nonexistent", &err), 0);
}

/* ---- Endpoint Security ----------------------------------------------------------------------- */

static struct endpoint {
	int result;
	struct es_queue *queue;
	struct es_out out;
	int starts, stops, forked;
	size_t answered;
	struct es_door_spec spec;
	struct door door;
} es;

static void es_respond(void *data, uint64_t handle, enum es_kind kind, bool allow)
{
	(void)data, (void)handle, (void)kind, (void)allow;
	es.answered++;
}

static int64_t es_now(void *data)
{
	(void)data;
	return 1;
}

static int es_start(void *data, const char *session, struct es_queue **ret, struct err *err)
{
	(void)data;
	assert_string_equal(session, "test");
	es.starts++;
	if (es.result < 0)
		return es_lack_say(ES_LACKS_ENTITLEMENT, err);
	es.out = (struct es_out){.respond = es_respond, .now = es_now};
	*ret = es.queue = es_queue_new(&es.out);
	return 0;
}

/* It has not run yet: nothing of its own is there. */
static struct es_id es_id_of(void *data, int pid)
{
	const struct fixture *f = data;

	es.forked = pid;
	assert_int_equal(access(f->go, F_OK), -1);
	return (struct es_id){.pid = pid, .version = 5};
}

static void es_stop(void *data)
{
	(void)data;
	es.stops++;
	es_queue_shut(es.queue);
}

static struct door *es_open(const struct es_door_spec *spec)
{
	es.spec = *spec;
	return &es.door;
}

static void touch_go(struct fixture *f, const struct es_system *system)
{
	AUTO_FREE char *command = xasprintf("touch %s", f->go);
	const char *const argv[] = {"sh", "-c", command, NULL};
	struct sandbox *sb;

	f->host.endpoint = system;
	f->host.open_door = es_open;
	sb = begin(f, argv);
	while (!f->keeper.exited)
		turn(&f->keeper);
	assert_int_equal(access(f->go, F_OK), 0);
	seatbelt_stop(sb);
}

static void with_a_client(void **state)
{
	struct fixture *f = *state;
	const struct es_system system = {
		.data = f, .start = es_start, .id_of = es_id_of, .stop = es_stop};
	struct es_message m = {.kind = ES_OPEN, .handle = 1, .deadline_us = 10000000}, got;

	es = (struct endpoint){0};
	f->spec.dynamic = true;
	touch_go(f, &system);
	assert_ptr_equal(f->door, &es.door);
	assert_false(es.spec.dynamic); /* the profile decides on reads */
	assert_int_equal(es.starts, 1);
	assert_int_equal(es.stops, 1);
	assert_int_equal(es.forked, f->keeper.agent);
	assert_int_equal(es.spec.agent.pid, es.forked);
	assert_ptr_equal(es.spec.queue, es.queue);
	assert_null(strstr(f->keeper.words, "there is no undo"));
	/* The agent was inside before it ran, and once stopped nothing of it is let go on. */
	m.process = (struct es_id){.pid = es.forked, .version = 5};
	es_queue_put(es.queue, &m);
	assert_int_equal(es.answered, 1);
	assert_false(es_queue_take(es.queue, &got));
	es_queue_free(es.queue); /* as the door would */
}

/* The profile alone confines, and says so. */
static void without_the_entitlement(void **state)
{
	struct fixture *f = *state;
	const struct es_system system = {
		.data = f, .start = es_start, .id_of = es_id_of, .stop = es_stop};

	es = (struct endpoint){.result = -EPERM};
	touch_go(f, &system);
	assert_null(f->door);
	assert_int_equal(es.stops, 0);
	assert_non_null(strstr(f->keeper.words,
			       "of files nothing is asked about: Endpoint Security: not "
			       "signed with"));
	assert_non_null(strstr(f->keeper.words, "there is no undo"));
}

/* ---- holding back ---------------------------------------------------------------------------- */

struct told {
	char words[512];
	int ends;
};

static void on_say(void *data, const char *words)
{
	struct told *t = data;

	snprintf(t->words, sizeof(t->words), "%s", words);
}

static void on_end(void *data)
{
	((struct told *)data)->ends++;
}

static bool is_stopped(pid_t pid)
{
	AUTO_FREE char *path = xasprintf("/proc/%d/stat", (int)pid), *text = NULL;
	size_t len = 0;

	assert_int_equal(io_read_file(AT_FDCWD, path, 4096, &text, &len), 0);
	return strstr(text, ") T ") != NULL;
}

static void slowed_and_free_again(void **state)
{
	struct fixture *f = *state;
	struct told told = {.ends = 0};
	pid_t child = fork();
	struct throttle_spec spec = {.os = &f->os,
				     .session = "test",
				     .root = child,
				     .limits = {.memory_soft = 100, .memory_hard = 1000},
				     .say = on_say,
				     .end = on_end,
				     .data = &told};
	struct throttle *t;
	int held = 0, status;

	if (child == 0)
		for (;;)
			pause();
	t = throttle_new(&spec);
	throttle_tick(t);
	assert_int_equal(throttle_period(t), THROTTLE_LOOK_MS);
	assert_false(*told.words);
	f->usage.resident = 200;
	throttle_tick(t);
	assert_int_equal(throttle_period(t), THROTTLE_TICK_MS);
	assert_non_null(strstr(told.words, "slowed"));
	assert_int_equal(getpriority(PRIO_PROCESS, (id_t)child),
			 MIN(getpriority(PRIO_PROCESS, 0) + 10, 19));
	for (int i = 0; i < 10; i++) {
		throttle_tick(t);
		if (throttle_is_holding(t)) {
			assert_int_equal(waitpid(child, &status, WUNTRACED), child);
			assert_true(WIFSTOPPED(status) && is_stopped(child));
			held++;
		}
	}
	assert_int_equal(held, 5);
	f->usage.resident = 10;
	while (throttle_period(t) == THROTTLE_TICK_MS)
		throttle_tick(t);
	assert_false(throttle_is_holding(t));
	assert_false(is_stopped(child));
	f->usage.resident = 2000;
	throttle_tick(t);
	throttle_tick(t);
	assert_int_equal(told.ends, 1);
	assert_int_equal(throttle_state(t)->ended, 1);
	throttle_free(t);
	kill(child, SIGKILL);
	assert_int_equal(waitpid(child, &status, 0), child);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(a_session, setup, teardown),
		cmocka_unit_test_setup_teardown(without_a_log, setup, teardown),
		cmocka_unit_test_setup_teardown(above_its_quota, setup, teardown),
		cmocka_unit_test_setup_teardown(refusals, setup, teardown),
		cmocka_unit_test_setup_teardown(the_network, setup, teardown),
		cmocka_unit_test_setup_teardown(ports_of_its_own, setup, teardown),
		cmocka_unit_test_setup_teardown(ports_that_were_fiddled_with, setup, teardown),
		cmocka_unit_test_setup_teardown(a_device_of_its_own, setup, teardown),
		cmocka_unit_test_setup_teardown(an_address_that_is_not_there, setup, teardown),
		cmocka_unit_test_setup_teardown(with_a_client, setup, teardown),
		cmocka_unit_test_setup_teardown(without_the_entitlement, setup, teardown),
		cmocka_unit_test_setup_teardown(slowed_and_free_again, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
