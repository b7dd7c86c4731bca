/* socket_owner - finds the process of a socket inside, and the ports that are listened on. */
/* SPDX-License-Identifier: MIT */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/clock.h"
#include "core/base/io.h"
#include "core/keeper/procs.h"
#include "core/keeper/flows.h"
#include "core/keeper/state.h"

/*
 * A packet identifies its sender only by a port. The kernel lists the sockets of a namespace with
 * their inodes, and /proc/PID/fd shows the process of each. That takes long, so it is done only a
 * few times a second. Further flows are judged, too, but without a process.
 */
#define TABLE_MAX (4u << 20) /* bytes of the kernel's list */
#define LOOK_US	  10000	     /* the longest search, while the agent waits */
#define LOOKS_MAX 10	     /* per second */
#define SECOND_US 1000000

/* Returns the inode in "sl local_address rem_address st queues timer retransmits uid timeout inode
 * ...". */
static unsigned long inode_in(const char *text, unsigned port)
{
	for (const char *line = strchr(text, '\n'); line && *++line; line = strchr(line, '\n')) {
		unsigned long inode;
		unsigned local;

		if (sscanf(line,
			   "%*u: %*[0-9A-F]:%X %*s %*X %*[0-9A-F:] %*[0-9A-F:] %*X %*u %*d %lu",
			   &local, &inode) == 2 &&
		    local == port)
			return inode;
	}
	return 0;
}

static unsigned long inode_of(int pid, bool udp, unsigned port)
{
	static const char *const tables[2][2] = {{"icmp", "icmp6"}, {"udp", "udp6"}};
	unsigned long inode = 0;

	for (size_t i = 0; i < 2 && !inode; i++) {
		AUTO_FREE char *text = NULL;
		char name[64];

		snprintf(name, sizeof(name), "/proc/%d/net/%s", pid, tables[udp][i]);
		if (io_read_file(AT_FDCWD, name, TABLE_MAX, &text, NULL) == 0)
			inode = inode_in(text, port);
	}
	return inode;
}

static ino_t net_space(int pid)
{
	char name[64];
	struct stat st;

	snprintf(name, sizeof(name), "/proc/%d/ns/net", pid);
	return stat(name, &st) == 0 ? st.st_ino : 0;
}

static bool has_socket(int pid, const char *socket)
{
	char name[64], path[PATH_MAX];
	AUTO_DIR DIR *d = NULL;
	struct dirent *e;

	snprintf(name, sizeof(name), "/proc/%d/fd", pid);
	d = opendir(name);
	while (d && (e = readdir(d))) {
		snprintf(name, sizeof(name), "fd/%.16s", e->d_name);
		if (*e->d_name != '.' && proc_link(pid, name, path) && str_eq(path, socket))
			return true;
	}
	return false;
}

static bool may_look(int64_t now)
{
	static int64_t since;
	static unsigned looks;

	if (now - since >= SECOND_US) {
		since = now;
		looks = 0;
	}
	return looks++ < LOOKS_MAX;
}

/* Finds the process of the socket, within the rest of the search's time. */
static int find_owner(const struct keeper *k, unsigned long inode, int64_t since)
{
	ino_t inside = net_space(k->agent_pid);
	AUTO_DIR DIR *d = NULL;
	struct dirent *e;
	char socket[64];

	if (!inside || !inode)
		return 0;
	snprintf(socket, sizeof(socket), "socket:[%lu]", inode);
	d = opendir("/proc");
	while (d && (e = readdir(d)) && clock_mono_us() - since < LOOK_US) {
		int pid = *e->d_name >= '1' && *e->d_name <= '9' ? atoi(e->d_name) : 0;

		if (pid && net_space(pid) == inside && has_socket(pid, socket))
			return pid;
	}
	return 0;
}

int flow_owner(struct keeper *k, bool udp, uint16_t port)
{
	int64_t now = clock_mono_us();

	if (k->agent_pid <= 0 || !may_look(now))
		return 0;
	return find_owner(k, inode_of(k->agent_pid, udp, port), now);
}

int flow_owner_of(struct keeper *k, unsigned long inode)
{
	int64_t now = clock_mono_us();

	return k->agent_pid > 0 && may_look(now) ? find_owner(k, inode, now) : 0;
}

/* ---- listeners ------------------------------------------------------------------------------- */

#define STATE_LISTEN 0x0a

static bool is_known(const struct flow_listener *list, size_t n, unsigned port)
{
	for (size_t i = 0; i < n; i++)
		if (list[i].port == port)
			return true;
	return false;
}

static size_t listeners_in(const char *text, struct flow_listener *list, size_t n, size_t max)
{
	for (const char *line = strchr(text, '\n'); line && *++line && n < max;
	     line = strchr(line, '\n')) {
		unsigned long inode;
		unsigned port, state;

		if (sscanf(line,
			   "%*u: %*[0-9A-F]:%X %*s %X %*[0-9A-F:] %*[0-9A-F:] %*X %*u %*d %lu",
			   &port, &state, &inode) == 3 &&
		    state == STATE_LISTEN && !is_known(list, n, port))
			list[n++] = (struct flow_listener){(uint16_t)port, inode};
	}
	return n;
}

size_t flow_listeners(struct keeper *k, struct flow_listener *list, size_t max)
{
	static const char *const tables[] = {"tcp", "tcp6"};
	size_t n = 0;

	for (size_t i = 0; i < ARRAY_LEN(tables) && k->agent_pid > 0; i++) {
		AUTO_FREE char *text = NULL;
		char name[64];

		snprintf(name, sizeof(name), "/proc/%d/net/%s", k->agent_pid, tables[i]);
		if (io_read_file(AT_FDCWD, name, TABLE_MAX, &text, NULL) == 0)
			n = listeners_in(text, list, n, max);
	}
	return n;
}

/* ---- services of this host's loopback -------------------------------------------------------- */

/* Returns whether a listener at this address, in the kernel's digits, serves a loopback address of
 * that family. One at [::] serves both. */
static bool serves_loopback(const char *digits, bool v6)
{
	size_t len = strlen(digits);
	bool any = strspn(digits, "0") == len;

	if (len == 8)
		return !v6 && (any || str_starts(digits, "7F") || str_eq(digits + 6, "7F"));
	/* ::1, by the byte order of the machine */
	return any || (v6 && len == 32 && strspn(digits, "0") >= 24 &&
		       (str_eq(digits + 24, "01000000") || str_eq(digits + 24, "00000001")));
}

static bool has_service(const char *text, bool v6, uint16_t wanted)
{
	for (const char *line = strchr(text, '\n'); line && *++line; line = strchr(line, '\n')) {
		char digits[33];
		unsigned port, state;

		if (sscanf(line, "%*u: %32[0-9A-F]:%X %*s %X", digits, &port, &state) == 3 &&
		    state == STATE_LISTEN && port == wanted && serves_loopback(digits, v6))
			return true;
	}
	return false;
}

bool flow_is_of_host(const struct net_addr *addr, uint16_t port)
{
	static const char *const tables[] = {"/proc/self/net/tcp", "/proc/self/net/tcp6"};
	bool v6 = !net_addr_is_v4(addr), found = false;

	if (net_addr_class(addr) != NET_LOOPBACK || !may_look(clock_mono_us()))
		return false;
	for (size_t i = 0; i < ARRAY_LEN(tables) && !found; i++) {
		AUTO_FREE char *text = NULL;

		if (io_read_file(AT_FDCWD, tables[i], TABLE_MAX, &text, NULL) == 0)
			found = has_service(text, v6, port);
	}
	return found;
}
