/* vm - the backend that runs the agent in a virtual machine. */
/* SPDX-License-Identifier: MIT */
#include "backends/vm/vm.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "backends/linux/door/guest_door.h"
#include "backends/linux/sandbox/keeper_domain.h"
#include "backends/vm/disk.h"
#include "backends/vm/fs/fs_server.h"
#include "backends/vm/guest/initramfs.h"
#include "backends/vm/guest_procs.h"
#include "backends/vm/monitor/monitor.h"
#include "backends/vm/net/guest_net.h"
#include "backends/vm/vm_priv.h"
#include "core/base/io.h"
#include "core/keeper/keeper.h"

#define BOOT_SECONDS_KVM 15
#define BOOT_SECONDS_TCG 60
#define DOWN_MS		 6000 /* longer than the monitor takes to stop the guest */

struct sandbox {
	struct keeper *keeper;
	struct fs_server *fs;
	struct guest_net *net; /* NULL: the guest has none */
	struct guest_procs *procs;
	struct door *door, *net_door; /* until launch() returns */
	pid_t monitor;		      /* 0: already reaped */
	int pidfd, sock;
	bool watching, watching_sock, watching_fs;
	bool runs;   /* the program runs */
	bool failed; /* the program did not start, and the keeper knows */
	bool keeps;  /* the guest's changes outside the folders are kept */
	int sockets[QEMU_SHARES_MAX];
	size_t n_sockets;
	int net_socket; /* QEMU's end; -1: handed to the monitor, or none */
};

/* ---- shares ---------------------------------------------------------------------------------- */

struct shares {
	struct fs_share list[FS_SHARES_MAX];
	struct guest_share guest[FS_SHARES_MAX];
	const char *tags[FS_SHARES_MAX];
	char names[FS_SHARES_MAX][16];
	size_t n;
};

static int add_share(struct shares *s, const char *path, enum fs_kind kind, struct err *err)
{
	size_t i = s->n;

	if (i == FS_SHARES_MAX)
		return err_say(err, -E2BIG, "a virtual machine takes %d folders at most",
			       FS_SHARES_MAX - 1);
	if (kind == FS_ROOT)
		snprintf(s->names[i], sizeof(s->names[i]), "root");
	else
		snprintf(s->names[i], sizeof(s->names[i]), "cordon%zu", i - 1);
	s->tags[i] = s->names[i];
	s->list[i] = (struct fs_share){.tag = s->names[i], .path = path, .kind = kind};
	s->guest[i] = (struct guest_share){
		.tag = s->names[i], .path = path, .read_only = kind != FS_FOLDER};
	s->n++;
	return 0;
}

/* Outer folders first: an inner one is mounted over them. */
static void sort_shares(struct shares *s)
{
	for (size_t i = 2; i < s->n; i++)
		for (size_t k = i; k > 1 && strcmp(s->guest[k].path, s->guest[k - 1].path) < 0;
		     k--) {
			struct guest_share swap = s->guest[k];

			s->guest[k] = s->guest[k - 1];
			s->guest[k - 1] = swap;
		}
}

static int collect_shares(struct shares *s, const struct spawn_spec *spec, struct err *err)
{
	int r = add_share(s, "/", FS_ROOT, err);

	for (const char *const *f = spec->folders; f && *f && r == 0; f++)
		r = add_share(s, *f, FS_FOLDER, err);
	for (const char *const *f = spec->read_only; f && *f && r == 0; f++)
		r = add_share(s, *f, FS_READ_ONLY, err);
	sort_shares(s);
	return r;
}

/* ---- messages of the monitor ----------------------------------------------------------------- */

static void on_note(void *data)
{
	struct sandbox *sb = data;
	struct note note;

	if (child_message_recv(sb->sock, &note, NULL, 0) <= 0) {
		if (sb->watching_sock)
			keeper_unwatch(sb->keeper, sb->sock);
		sb->watching_sock = false;
		return; /* the pidfd reports its end */
	}
	if (note.kind == NOTE_READY)
		sb->runs = true;
	if (note.kind != NOTE_FAILED)
		return;
	if (sb->runs) {
		keeper_warn(sb->keeper, "%s", note.text);
		return;
	}
	sb->failed = true;
	keeper_agent_failed(sb->keeper, note.status, note.text);
}

static void drain_notes(struct sandbox *sb)
{
	struct pollfd p = {.fd = sb->sock, .events = POLLIN};

	while (sb->watching_sock && poll(&p, 1, 0) > 0)
		on_note(sb);
}

static int reap(struct sandbox *sb)
{
	int status = 0;

	if (sb->monitor <= 0)
		return 0;
	while (waitpid(sb->monitor, &status, 0) < 0 && errno == EINTR)
		continue;
	sb->monitor = 0;
	return status;
}

static void on_exit_of_monitor(void *data)
{
	struct sandbox *sb = data;
	int status;

	keeper_unwatch(sb->keeper, sb->pidfd);
	sb->watching = false;
	drain_notes(sb);
	guest_procs_drain(sb->procs);
	status = reap(sb);
	if (!sb->failed)
		keeper_agent_exited(sb->keeper, status);
}

static void on_exit_of_fs(void *data)
{
	struct sandbox *sb = data;
	struct note note = {.kind = NOTE_FAILED};

	keeper_unwatch(sb->keeper, fs_server_pidfd(sb->fs));
	sb->watching_fs = false;
	/* The server also ends when QEMU does; the monitor knows which of the two ended first. */
	child_message_send(sb->sock, &note, NULL, 0);
}

/* ---- the end --------------------------------------------------------------------------------- */

/* Lets the guest write its last changes to its image. Changes of folders are refused by now. */
static void let_down(const struct sandbox *sb)
{
	struct note note = {.kind = NOTE_END};
	struct pollfd p = {.fd = sb->pidfd, .events = POLLIN};

	if (sb->monitor > 0 && sb->pidfd >= 0 && child_message_send(sb->sock, &note, NULL, 0) == 0)
		while (poll(&p, 1, DOWN_MS) < 0 && errno == EINTR)
			continue;
}

static void vm_stop(struct sandbox *sb)
{
	if (sb->watching)
		keeper_unwatch(sb->keeper, sb->pidfd);
	if (sb->watching_sock)
		keeper_unwatch(sb->keeper, sb->sock);
	if (sb->watching_fs)
		keeper_unwatch(sb->keeper, fs_server_pidfd(sb->fs));
	if (sb->keeps && sb->runs)
		let_down(sb);
	if (sb->monitor > 0)
		kill(sb->monitor, SIGKILL); /* QEMU dies with the monitor (parent-death signal) */
	reap(sb);
	fs_server_stop(sb->fs);
	guest_net_stop(sb->net);
	guest_procs_free(sb->procs);
	for (size_t i = 0; i < sb->n_sockets; i++)
		util_close_fd(&sb->sockets[i]);
	util_close_fd(&sb->net_socket);
	util_close_fd(&sb->pidfd);
	util_close_fd(&sb->sock);
	free(sb);
}

static void vm_signal(struct sandbox *sb, int sig)
{
	if (sb->monitor > 0)
		kill(sb->monitor, sig);
}

/* ---- the start ------------------------------------------------------------------------------- */

static int watch_all(struct sandbox *sb, struct err *err)
{
	int r;

	sb->pidfd = (int)syscall(SYS_pidfd_open, sb->monitor, 0);
	r = sb->pidfd < 0 ? -errno : keeper_watch(sb->keeper, sb->pidfd, on_exit_of_monitor, sb);
	sb->watching = r == 0;
	if (r == 0)
		r = keeper_watch(sb->keeper, sb->sock, on_note, sb);
	sb->watching_sock = r == 0;
	if (r == 0)
		r = keeper_watch(sb->keeper, fs_server_pidfd(sb->fs), on_exit_of_fs, sb);
	sb->watching_fs = r == 0;
	return r < 0 ? err_set(err, r, "watch the virtual machine") : 0;
}

static int start_monitor(struct sandbox *sb, const struct vm_plan *plan, const struct shares *s,
			 const struct spawn_spec *spec, int *ret_words, struct err *err)
{
	AUTO_BUF struct buf initrd = BUF_INIT;
	AUTO_FREE char *base = NULL;
	char host[HOST_NAME_MAX + 1];
	AUTO_CLOSE int fd = open(plan->guest.base, O_RDONLY | O_CLOEXEC);
	struct monitor_spec m = {
		.spec = spec,
		.boot_seconds = plan->kvm ? BOOT_SECONDS_KVM : BOOT_SECONDS_TCG,
		.qemu = {.program = plan->qemu,
			 .kvm = plan->kvm,
			 .microvm = spec->vm.microvm,
			 .memory = plan->memory,
			 .cpus = plan->cpus,
			 .kernel = plan->guest.kernel,
			 .disk = plan->disk,
			 .net = sb->net_socket,
			 .tags = s->tags,
			 .shares = sb->sockets,
			 .n = s->n},
	};
	const struct guest_conf conf = {.root = s->tags[0],
					.disk = plan->disk >= 0 ? "/dev/vda" : "",
					.upper = plan->memory / 2,
					.host = host,
					.net = sb->net_socket >= 0,
					.shares = s->guest + 1,
					.n = s->n - 1};
	size_t len = 0;
	int r = fd < 0 ? -errno : io_read_all(fd, VM_BASE_MAX, &base, &len);

	/* The guest gets the host's name, which /etc/hosts may list. */
	if (gethostname(host, sizeof(host)) < 0 || !memchr(host, '\0', sizeof(host)))
		snprintf(host, sizeof(host), "cordon");
	if (r < 0)
		return err_set(err, r, "read '%s'", plan->guest.base);
	buf_add(&initrd, base, len);
	initramfs_session(&initrd, &conf);
	m.initrd = initrd.data;
	m.initrd_len = initrd.len;
	sb->monitor = monitor_start(&m, &sb->sock, ret_words, err);
	return (int)MIN(sb->monitor, 0);
}

/* Starts the guest's network. Without it the guest is no less confined, so the start continues and
 * the user is told. */
static void start_net(struct sandbox *sb, const struct spawn_spec *spec)
{
	struct err err = {0};

	if (!spec->allow_network && !spec->ask_network)
		return;
	if (guest_net_start(&sb->net, &sb->net_door, sb->keeper, spec, &sb->net_socket, &err) < 0)
		keeper_warn(sb->keeper, "--backend vm: %s", err.text);
}

static int start(struct sandbox *sb, const struct vm_plan *plan, const struct spawn_spec *spec,
		 struct err *err)
{
	struct note go = {.kind = NOTE_GO};
	struct plan none = {0};
	struct shares shares = {0};
	int words = -1, r = collect_shares(&shares, spec, err);

	if (r == 0)
		r = fs_server_start(&sb->fs, &sb->door, sb->keeper, spec, shares.list, shares.n,
				    sb->sockets, err);
	if (r < 0)
		return r;
	sb->n_sockets = shares.n;
	start_net(sb, spec);
	r = start_monitor(sb, plan, &shares, spec, &words, err);
	/* QEMU's ends are in the monitor: the fs server sees the end of QEMU by them. */
	for (size_t i = 0; i < sb->n_sockets; i++)
		util_close_fd(&sb->sockets[i]);
	util_close_fd(&sb->net_socket);
	if (r == 0)
		r = keeper_domain_enter(sb->keeper, &none, -1, spec, err);
	if (r == 0)
		r = watch_all(sb, err);
	if (r == 0)
		r = guest_procs_new(&sb->procs, sb->keeper, sb->fs, take_fd(&words), err);
	util_close_fd(&words);
	if (r < 0)
		return r;
	if (sb->net_door) {
		guest_door_set_caller(sb->net_door, sb->monitor);
		r = keeper_add_door(sb->keeper, sb->net_door);
		if (r < 0)
			return err_set(err, r, "open the door of the guest's network");
		sb->net_door = NULL; /* the keeper owns it */
	}
	keeper_set_agent(sb->keeper, sb->monitor, ORPHANS_UNKNOWN);
	r = child_message_send(sb->sock, &go, NULL, 0);
	return r < 0 ? err_set(err, r, "start the program") : 0;
}

static int vm_launch(struct sandbox **ret, struct door **ret_door, const struct spawn_spec *spec,
		     struct keeper *k, int *ret_status, struct err *err)
{
	struct sandbox *sb;
	struct vm_plan plan;
	int r;

	*ret_status = 125;
	r = vm_plan_make(&plan, spec, err);
	if (r < 0)
		return r;
	sb = xcalloc(1, sizeof(*sb));
	sb->keeper = k;
	sb->keeps = plan.disk >= 0;
	sb->pidfd = sb->sock = sb->net_socket = -1;
	r = start(sb, &plan, spec, err);
	if (r == 0 && !plan.kvm)
		keeper_note(k, "the virtual machine is emulated, which is slow: %s", plan.no_kvm);
	if (r == 0 && spec->sockets && *spec->sockets)
		keeper_warn(k, "--backend vm: the guest cannot reach sockets of the host: "
			       "--allow-unix and --ssh-agent do nothing");
	vm_plan_done(&plan);
	if (r == 0) {
		*ret = sb;
		*ret_door = take_ptr(&sb->door);
		return 0;
	}
	if (sb->door)
		sb->door->ops->close(sb->door);
	if (sb->net_door)
		sb->net_door->ops->close(sb->net_door);
	vm_stop(sb);
	return r;
}

const struct backend backend_vm = {
	.name = "vm",
	.summary = "a virtual machine: QEMU, with the working folders served by the keeper",
	.asks_network = true,
	.no_secrets = true,
	.tier = vm_tier,
	.probe = vm_probe,
	.check = vm_check,
	.launch = vm_launch,
	.signal = vm_signal,
	.stop = vm_stop,
	.confine_reader = confine_reader,
	.forget = disk_remove,
};
