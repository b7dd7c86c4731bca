/* gated_trees - finds the trees that dynamic mode closes, and the open places in them. */
/* SPDX-License-Identifier: MIT */
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#include "core/base/mountinfo.h"
#include "core/base/path.h"
#include "core/os/statx.h"
#include "core/policy/policy_priv.h"

/* Entries of /: the system, which every program reads, and directories that the sandbox has of its
 * own. */
static const char *const system_tops[] = {
	"bin", "boot", "dev", "etc",  "gnu",  "lib", "lib32", "lib64", "libx32", "lost+found",
	"nix", "proc", "run", "sbin", "snap", "sys", "tmp",   "usr",   "var",	 NULL,
};

/* Mounts that are part of the system although they have their own disks. */
static const char *const system_mounts[] = {"/boot",	"/etc",	      "/gnu",
					    "/nix",	"/snap",      "/usr",
					    "/var/log", "/var/cache", "/var/lib/snapd"};

/* Places of other users and services in the system's trees: mail, web sites, databases, machines.
 */
static const char *const others[] = {
	"/var/backups",
	"/var/crash",
	"/var/lib/clickhouse",
	"/var/lib/consul",
	"/var/lib/containerd",
	"/var/lib/containers",
	"/var/lib/couchdb",
	"/var/lib/docker",
	"/var/lib/elasticsearch",
	"/var/lib/etcd",
	"/var/lib/gitea",
	"/var/lib/grafana",
	"/var/lib/influxdb",
	"/var/lib/jenkins",
	"/var/lib/kubelet",
	"/var/lib/ldap",
	"/var/lib/libvirt",
	"/var/lib/lxc",
	"/var/lib/lxd",
	"/var/lib/mariadb",
	"/var/lib/mongodb",
	"/var/lib/mysql",
	"/var/lib/neo4j",
	"/var/lib/opensearch",
	"/var/lib/pgsql",
	"/var/lib/postgresql",
	"/var/lib/rabbitmq",
	"/var/lib/redis",
	"/var/lib/samba",
	"/var/lib/systemd/coredump",
	"/var/lib/tailscale",
	"/var/lib/vault",
	"/var/mail",
	"/var/opt",
	"/var/spool/cron",
	"/var/spool/mail",
	"/var/vmail",
	"/var/www",
};

/* Trees that the sandbox has of its own: it shows nothing of the host's. */
static const char *const private_trees[] = {"/dev", "/proc", "/run", "/sys", "/tmp", "/var/tmp"};

/* File systems that hold no user's files. */
static const char *const no_disks[] = {
	"autofs",     "binfmt_misc", "bpf",	 "cgroup",   "cgroup2", "configfs",
	"debugfs",    "devpts",	     "devtmpfs", "efivarfs", "fusectl", "hugetlbfs",
	"mqueue",     "nsfs",	     "overlay",	 "proc",     "pstore",	"ramfs",
	"securityfs", "squashfs",    "sysfs",	 "tmpfs",    "tracefs", NULL,
};

static bool beneath_one_of(const char *const *list, size_t n, const char *path)
{
	for (size_t i = 0; i < n; i++)
		if (path_is_beneath(path, list[i]))
			return true;
	return false;
}

bool gated_trees_are_private(const char *path)
{
	return beneath_one_of(private_trees, ARRAY_LEN(private_trees), path);
}

/* Uses only the kernel's cache: a server that does not answer (FUSE, NFS) would block each start on
 * this host. */
static bool is_dir(const char *path)
{
	struct statx st;

	return statx(AT_FDCWD, path, AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT | AT_STATX_DONT_SYNC,
		     STATX_TYPE, &st) == 0 &&
	       S_ISDIR(st.stx_mode);
}

static void find_tops(struct places *all)
{
	AUTO_DIR DIR *d = opendir("/");
	struct dirent *e;

	while (d && (e = readdir(d))) {
		AUTO_FREE char *path = path_join("/", e->d_name);

		if (e->d_name[0] == '.' && (!e->d_name[1] || str_eq(e->d_name, "..")))
			continue;
		if (!str_one_of(e->d_name, system_tops) && is_dir(path))
			places_add(all, take_ptr(&path));
	}
}

static void find_disks(struct places *all)
{
	AUTO_FREE char *text = mountinfo_read();
	struct mount_line m;

	for (char *at = text; mountinfo_next(&at, &m);)
		if (m.point[1] && !str_eq(m.point, "/var") && !str_one_of(m.type, no_disks) &&
		    !beneath_one_of(system_mounts, ARRAY_LEN(system_mounts), m.point) &&
		    !gated_trees_are_private(m.point) && is_dir(m.point))
			places_add(all, xstrdup(m.point));
}

static void find_others(struct places *all)
{
	for (size_t i = 0; i < ARRAY_LEN(others); i++)
		if (is_dir(others[i])) /* no link */
			places_add(all, xstrdup(others[i]));
}

static int shorter_first(const void *a, const void *b)
{
	const char *const *x = a, *const *y = b;

	return (strlen(*x) > strlen(*y)) - (strlen(*x) < strlen(*y));
}

void gated_trees_find(struct places *ret, const struct policy_spec *spec, const char *home)
{
	struct places all = {0};
	char *real = realpath(home, NULL);

	find_tops(&all);
	find_disks(&all);
	find_others(&all);
	if (real && !str_eq(real, "/") && !gated_trees_are_private(real))
		places_add(&all, real);
	else
		free(real);
	if (all.n)
		qsort(all.list, all.n, sizeof(*all.list), shorter_first);
	for (size_t i = 0; i < all.n; i++)
		if (!places_cover(ret, all.list[i]) && !path_is_in(all.list[i], spec->folders) &&
		    !path_is_in(all.list[i], spec->read_only))
			places_add(ret, xstrdup(all.list[i]));
	places_done(&all);
}
