/* os_darwin - fills struct mac_os with the calls of macOS. */
/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <libproc.h>
#include <mach/mach_time.h>
#include <netinet/in.h>
#include <sandbox.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/sysctl.h>
#include <unistd.h>

#include "backends/macos/mark.h"
#include "backends/macos/os.h"
#include "backends/macos/profile/services.h"
#include "core/base/util.h"

/* From libSystem; no header of the SDK declares them. */
#define CS_OPS_ENTITLEMENTS_BLOB     7
#define CSR_ALLOW_UNRESTRICTED_FS    0x2u
#define CSR_ALLOW_TASK_FOR_PID	     0x4u
#define CSR_ALLOW_UNRESTRICTED_NVRAM 0x40u
int csops(pid_t pid, unsigned ops, void *out, size_t size);
int csr_get_active_config(uint32_t *ret);

#define ENTITLEMENT	 "com.apple.developer.endpoint-security.client"
#define ENTITLEMENTS_MAX (64u << 10)
#define PROCESSES_MAX	 65536

/* The same, from <sandbox/private.h>. */
#define SANDBOX_FILTER_GLOBAL_NAME 2
#define SANDBOX_CHECK_NO_REPORT	   0x40000000

/* ---- one process, before it executes the program --------------------------------------------- */

static int apply(void *data, const char *profile, const char *const *params, char *why, size_t size)
{
	static const char *const none[] = {NULL};
	char *text = NULL;

	(void)data;
	if (sandbox_init_with_parameters(profile, 0, params ? params : none, &text) == 0)
		return 0;
	snprintf(why, size, "%s", text ? text : "libsandbox gives no reason");
	sandbox_free_error(text);
	return -EPERM;
}

static int deny_attach(void *data)
{
	(void)data;
	return ptrace(PT_DENY_ATTACH, 0, NULL, 0) < 0 ? -errno : 0;
}

/* ---- this host ------------------------------------------------------------------------------- */

/* "<key>NAME</key> <true/>" in the property list that this program is signed with. */
static bool has_entitlement(void)
{
	static const char key[] = "<key>" ENTITLEMENT "</key>";
	AUTO_FREE char *blob = xcalloc(1, ENTITLEMENTS_MAX + 1);
	const char *at;

	if (csops(getpid(), CS_OPS_ENTITLEMENTS_BLOB, blob, ENTITLEMENTS_MAX) < 0)
		return false;
	at = memmem(blob, ENTITLEMENTS_MAX, key, sizeof(key) - 1);
	if (!at)
		return false;
	at += sizeof(key) - 1;
	return str_starts(at + strspn(at, " \t\r\n"), "<true/>");
}

static int look_at_host(void *data, struct mac_host *ret)
{
	struct mac_host h = {.has_init = true};
	size_t n = sizeof(h.version) - 1, size = sizeof(h.memory);
	uint32_t csr;

	(void)data;
	if (sysctlbyname("kern.osproductversion", h.version, &n, NULL, 0) < 0)
		h.version[0] = '\0';
	if (sysctlbyname("hw.memsize", &h.memory, &size, NULL, 0) < 0)
		h.memory = 0;
	h.sip_known = csr_get_active_config(&csr) == 0;
	h.sip = h.sip_known && !(csr & (CSR_ALLOW_UNRESTRICTED_FS | CSR_ALLOW_TASK_FOR_PID |
					CSR_ALLOW_UNRESTRICTED_NVRAM));
	h.endpoint_right = has_entitlement();
	*ret = h;
	return 0;
}

static ssize_t read_link(void *data, const char *path, char *out, size_t size)
{
	ssize_t n = readlink(path, out, size);

	(void)data;
	return n < 0 ? -errno : n;
}

static bool can_run(void *data, const char *path)
{
	(void)data;
	return access(path, X_OK) == 0;
}

static enum mac_pressure pressure(void *data)
{
	int level = 0;
	size_t n = sizeof(level);

	(void)data;
	if (sysctlbyname("kern.memorystatus_vm_pressure_level", &level, &n, NULL, 0) < 0)
		return MAC_PRESSURE_UNKNOWN;
	return level == 1   ? MAC_PRESSURE_NORMAL
	       : level == 2 ? MAC_PRESSURE_WARN
	       : level == 4 ? MAC_PRESSURE_CRITICAL
			    : MAC_PRESSURE_UNKNOWN;
}

/* ---- the processes of this user -------------------------------------------------------------- */

struct process {
	pid_t pid, parent;
	uint32_t files;
	bool inside;
};

struct table {
	struct process *list;
	size_t n;
};
#define AUTO_TABLE CLEANUP(table_done)

static void table_done(struct table *t)
{
	free(t->list);
}

/* Fills the table with this user's processes, without zombies. For root it has the processes of all
 * users, because a process of root's session may have changed its user. */
static void table_fill(struct table *t)
{
	AUTO_FREE pid_t *pids = xcalloc(PROCESSES_MAX, sizeof(*pids));
	int n = proc_listallpids(pids, PROCESSES_MAX * (int)sizeof(*pids));
	struct proc_bsdinfo info;

	*t = (struct table){.list = xcalloc(PROCESSES_MAX, sizeof(*t->list))};
	for (int i = 0; i < n && i < PROCESSES_MAX; i++) {
		if (proc_pidinfo(pids[i], PROC_PIDTBSDINFO, 0, &info, sizeof(info)) !=
			    (int)sizeof(info) ||
		    (getuid() != 0 && info.pbi_uid != getuid()) || info.pbi_status == SZOMB)
			continue;
		t->list[t->n++] = (struct process){.pid = (pid_t)info.pbi_pid,
						   .parent = (pid_t)info.pbi_ppid,
						   .files = info.pbi_nfiles};
	}
}

static struct process *table_find(const struct table *t, pid_t pid)
{
	for (size_t i = 0; i < t->n; i++)
		if (t->list[i].pid == pid)
			return &t->list[i];
	return NULL;
}

/* Appends the descendants of the n processes in out, each after its parent. Returns the new
 * count. */
static size_t add_descendants(struct table *t, pid_t *out, size_t n, size_t max)
{
	for (size_t at = 0; at < n; at++)
		for (size_t i = 0; i < t->n && n < max; i++) {
			struct process *p = &t->list[i];

			if (p->inside || p->parent != out[at] || p->pid == getpid())
				continue;
			p->inside = true;
			out[n++] = p->pid;
		}
	return n;
}

/* Returns whether the process was started with NAME=VALUE in its environment. Returns false for
 * programs that the system protects. buf needs KERN_ARGMAX bytes. */
static bool has_setting(pid_t pid, const char *setting, char *buf, size_t size)
{
	int mib[] = {CTL_KERN, KERN_PROCARGS2, pid}, argc;
	const char *at = buf, *end;

	if (sysctl(mib, ARRAY_LEN(mib), buf, &size, NULL, 0) < 0 || size <= sizeof(argc))
		return false;
	end = buf + size;
	memcpy(&argc, buf, sizeof(argc));
	at += sizeof(argc);
	at += strnlen(at, (size_t)(end - at)); /* skip the path; NULs and argc arguments follow */
	while (at < end && !*at)
		at++;
	while (argc-- > 0 && at < end)
		at += strnlen(at, (size_t)(end - at)) + 1;
	while (at < end && *at) {
		size_t n = strnlen(at, (size_t)(end - at));

		if (n == strlen(setting) && memcmp(at, setting, n) == 0)
			return true;
		at += n + 1;
	}
	return false;
}

/* Returns whether the process could look this name up. The check is not logged. */
static bool may_look_up(pid_t pid, const char *name)
{
	return sandbox_check(pid, "mach-lookup",
			     SANDBOX_FILTER_GLOBAL_NAME | SANDBOX_CHECK_NO_REPORT, name) == 0;
}

bool mac_is_marked(pid_t pid, const char *session)
{
	AUTO_FREE char *mark = profile_mark(session, false);
	AUTO_FREE char *other = profile_mark(session, true);

	return may_look_up(pid, mark) && !may_look_up(pid, other);
}

/* The marks of a session's processes, which do not depend on their parents. */
struct marks {
	const char *session;
	char *setting;
	char *buf; /* holds a process's arguments and environment */
	size_t size;
};
#define AUTO_MARKS CLEANUP(marks_done)

static void marks_done(struct marks *m)
{
	free(m->setting);
	free(m->buf);
}

static size_t argument_size(void)
{
	int mib[] = {CTL_KERN, KERN_ARGMAX}, size = 0;
	size_t n = sizeof(size);

	return sysctl(mib, ARRAY_LEN(mib), &size, &n, NULL, 0) < 0 || size <= 0 ? 1u << 20
										: (size_t)size;
}

static struct marks marks_of(const char *session)
{
	struct marks m = {.session = session,
			  .setting = xasprintf("CORDON_SESSION=%s", session),
			  .size = argument_size()};

	m.buf = xmalloc(m.size);
	return m;
}

static bool is_marked(const struct marks *m, pid_t pid)
{
	return mac_is_marked(pid, m->session) || has_setting(pid, m->setting, m->buf, m->size);
}

/* Lists root and its descendants. Returns their number. */
static size_t list_family(struct table *t, pid_t root, pid_t *out, size_t max)
{
	struct process *first = root > 0 ? table_find(t, root) : NULL;
	size_t n = 0;

	if (first && max) {
		first->inside = true;
		out[n++] = root;
	}
	return add_descendants(t, out, n, max);
}

/* Appends processes that bear the session's marks, and their descendants. Returns the new count. */
static size_t list_marked(struct table *t, const char *session, pid_t *out, size_t n, size_t max)
{
	AUTO_MARKS struct marks marks = marks_of(session);

	for (size_t i = 0; i < t->n && n < max; i++) {
		struct process *p = &t->list[i];

		if (p->inside || p->pid == getpid() || p->pid == getppid() ||
		    !is_marked(&marks, p->pid))
			continue;
		p->inside = true;
		out[n++] = p->pid;
	}
	return add_descendants(t, out, n, max);
}

static size_t list_inside(void *data, const char *session, pid_t root, pid_t *out, size_t max)
{
	AUTO_TABLE struct table t = {0};

	(void)data;
	table_fill(&t);
	return list_marked(&t, session, out, list_family(&t, root, out, max), max);
}

static bool has_connection(pid_t pid, uint16_t from, uint16_t to)
{
	AUTO_FREE struct proc_fdinfo *fds = NULL;
	int size = proc_pidinfo(pid, PROC_PIDLISTFDS, 0, NULL, 0);

	if (size <= 0)
		return false;
	fds = xcalloc(1, (size_t)size);
	size = proc_pidinfo(pid, PROC_PIDLISTFDS, 0, fds, size);
	for (size_t i = 0; size > 0 && i < (size_t)size / sizeof(*fds); i++) {
		const struct in_sockinfo *at;
		struct socket_fdinfo info;

		if (fds[i].proc_fdtype != PROX_FDTYPE_SOCKET ||
		    proc_pidfdinfo(pid, fds[i].proc_fd, PROC_PIDFDSOCKETINFO, &info,
				   sizeof(info)) != (int)sizeof(info) ||
		    info.psi.soi_kind != SOCKINFO_TCP)
			continue;
		at = &info.psi.soi_proto.pri_tcp.tcpsi_ini;
		if (ntohs((uint16_t)at->insi_lport) == from &&
		    ntohs((uint16_t)at->insi_fport) == to)
			return true;
	}
	return false;
}

static pid_t find_connection(const pid_t *list, size_t n, uint16_t from, uint16_t to)
{
	for (size_t i = 0; i < n; i++)
		if (has_connection(list[i], from, to))
			return list[i];
	return 0;
}

/* Searches the agent's descendants first: reading the environments of others takes longest. */
static pid_t owner_of_port(void *data, const char *session, pid_t root, uint16_t from, uint16_t to)
{
	AUTO_FREE pid_t *inside = xcalloc(PROCESSES_MAX, sizeof(*inside));
	AUTO_TABLE struct table t = {0};
	size_t n, all;
	pid_t got;

	(void)data;
	table_fill(&t);
	n = list_family(&t, root, inside, PROCESSES_MAX);
	got = find_connection(inside, n, from, to);
	if (got)
		return got;
	all = list_marked(&t, session, inside, n, PROCESSES_MAX);
	return find_connection(inside + n, all - n, from, to);
}

static uint64_t cpu_us(const struct proc_taskinfo *info)
{
	static mach_timebase_info_data_t base;

	if (!base.denom)
		(void)mach_timebase_info(&base);
	return (info->pti_total_user + info->pti_total_system) / 1000 * base.numer / base.denom;
}

static int usage(void *data, pid_t root, struct mac_usage *ret)
{
	AUTO_FREE pid_t *inside = xcalloc(PROCESSES_MAX, sizeof(*inside));
	AUTO_TABLE struct table t = {0};
	struct proc_taskinfo info;
	struct mac_usage u = {0};
	size_t n;

	(void)data;
	table_fill(&t);
	if (!table_find(&t, root))
		return -ESRCH;
	table_find(&t, root)->inside = true;
	inside[0] = root;
	n = add_descendants(&t, inside, 1, PROCESSES_MAX);
	for (size_t i = 0; i < n; i++) {
		u.processes++;
		u.open_files += table_find(&t, inside[i])->files;
		if (proc_pidinfo(inside[i], PROC_PIDTASKINFO, 0, &info, sizeof(info)) !=
		    (int)sizeof(info))
			continue; /* it ended after it was listed */
		u.resident += info.pti_resident_size;
		u.cpu_us += cpu_us(&info);
		u.threads += (uint32_t)MAX(info.pti_threadnum, 0);
	}
	*ret = u;
	return 0;
}

const struct mac_os mac_os_darwin = {
	.apply = apply,
	.deny_attach = deny_attach,
	.look_at_host = look_at_host,
	.read_link = read_link,
	.can_run = can_run,
	.usage = usage,
	.pressure = pressure,
	.list_inside = list_inside,
	.owner_of_port = owner_of_port,
};
