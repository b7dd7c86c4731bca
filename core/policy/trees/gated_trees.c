/* gated_trees - finds the trees that dynamic mode closes, and the open places in them. */
/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/io.h"
#include "core/base/mountinfo.h"
#include "core/base/path.h"
#include "core/os/statx.h"
#include "core/os/volume.h"
#include "core/policy/builtin/certificates.h"
#include "core/policy/policy_priv.h"

/* Of /: the system, which every program reads, and what the sandbox has of its own. */
static const char *const system_tops[] = {
	"bin", "boot", "dev", "etc",  "gnu",  "lib", "lib32", "lib64", "libx32", "lost+found",
	"nix", "proc", "run", "sbin", "snap", "sys", "tmp",   "usr",   "var",	 NULL,
};

/* Mounts that are part of the system though they are disks of their own. */
static const char *const system_mounts[] = {"/boot",	"/etc",	      "/gnu",
					    "/nix",	"/snap",      "/usr",
					    "/var/log", "/var/cache", "/var/lib/snapd"};

/* What others keep in the system's trees: mail, web sites, backups, databases, machines. */
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

/* The sandbox has its own: nothing of the host's shows there. */
static const char *const private_trees[] = {"/dev", "/proc", "/run", "/sys", "/tmp", "/var/tmp"};

/* File systems that hold no files of anybody's. */
static const char *const no_disks[] = {
	"autofs",     "binfmt_misc", "bpf",	 "cgroup",   "cgroup2", "configfs",
	"debugfs",    "devpts",	     "devtmpfs", "efivarfs", "fusectl", "hugetlbfs",
	"mqueue",     "nsfs",	     "overlay",	 "proc",     "pstore",	"ramfs",
	"securityfs", "squashfs",    "sysfs",	 "tmpfs",    "tracefs", NULL,
};

/* Below $HOME: settings that programs look for when they start, and that hold no secrets by
 * intent. */
static const char *const harmless[] = {
	".Xresources",
	".ackrc",
	".agignore",
	".bash_aliases",
	".bash_completion",
	".bash_functions",
	".bash_login",
	".bash_logout",
	".bash_profile",
	".bashrc",
	".bashrc.d",
	".cargo/config.toml",
	".clang-format",
	".clang-tidy",
	".clangd",
	".config/bat",
	".config/clangd",
	".config/fd",
	".config/fish",
	".config/git",
	".config/htop",
	".config/locale.conf",
	".config/nvim",
	".config/ripgrep",
	".config/starship.toml",
	".config/tmux",
	".config/user-dirs.dirs",
	".dircolors",
	".editorconfig",
	".emacs.d",
	".fzf",
	".fzf.bash",
	".fzf.zsh",
	".gdbinit",
	".gitattributes",
	".gitconfig",
	".gitignore",
	".hushlogin",
	".ignore",
	".inputrc",
	".kshrc",
	".lesskey",
	".local/share/bash-completion",
	".local/share/nvim",
	".nanorc",
	".node-version",
	".nvmrc",
	".oh-my-zsh",
	".p10k.zsh",
	".profile",
	".python-version",
	".rgignore",
	".ripgreprc",
	".ruby-version",
	".screenrc",
	".selected_editor",
	".terminfo",
	".tmux.conf",
	".tool-versions",
	".vim",
	".vimrc",
	".wgetrc",
	".zfunc",
	".zlogin",
	".zlogout",
	".zprofile",
	".zshenv",
	".zshrc",
};

/* A git configuration may include another one, and so on. */
#define GIT_INCLUDES 4

/* What belongs to a directory of $PATH below $HOME besides its parent. */
static const struct {
	const char *bin, *with;
} companions[] = {
	{".cargo/bin", ".rustup"},
	{".local/bin", ".local/lib"},
	{".local/bin", ".local/share/uv"},
	{".local/bin", ".local/share/pipx"},
	{".local/bin", ".local/share/claude"},
	{".local/bin", ".local/share/pnpm"},
	{"go/bin", "go/pkg"},
	{".pyenv/shims", ".pyenv"},
	{".asdf/shims", ".asdf"},
	{".local/share/mise/shims", ".local/share/mise"},
};

/* ---- lists ----------------------------------------------------------------------------------- */

void gated_trees_add(struct places *p, char *path)
{
	p->list = xrealloc(p->list, (p->n + 2) * sizeof(*p->list));
	p->list[p->n++] = path;
	p->list[p->n] = NULL;
}

bool gated_trees_hold(const struct places *p, const char *path)
{
	for (size_t i = 0; i < p->n; i++)
		if (path_is_beneath(path, p->list[i]))
			return true;
	return false;
}

static int by_name(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static void places_sort(struct places *p)
{
	if (p->n)
		qsort(p->list, p->n, sizeof(*p->list), by_name);
}

/* Where a name comes about when it is asked for, reading the directory does not tell. */
static bool lists_all(DIR *d)
{

	const int volume = os_volume(dirfd(d));

	return volume >= 0 && volume != VOLUME_AUTO;
}

int gated_trees_list(const char *dir, struct places *names, struct places *links)
{
	AUTO_DIR DIR *d = opendir(dir);
	struct dirent *e;

	if (!d)
		return -errno;
	if (!lists_all(d))
		return -EOPNOTSUPP;
	while ((e = readdir(d))) {
		gated_trees_add(names, xstrdup(e->d_name));
		if (links && (e->d_type == DT_LNK || e->d_type == DT_UNKNOWN))
			gated_trees_add(links, xstrdup(e->d_name));
	}
	places_sort(names);
	if (links)
		places_sort(links);
	return 0;
}

bool gated_trees_name(const struct places *p, const char *path)
{
	for (size_t i = 0; i < p->n; i++)
		if (str_eq(p->list[i], path))
			return true;
	return false;
}

bool gated_trees_have(const struct places *p, const char *text, size_t len)
{
	size_t from = 0, to = p->n;

	while (from < to) {
		size_t mid = from + (to - from) / 2;
		int r = strncmp(p->list[mid], text, len);

		if (r == 0 && !p->list[mid][len])
			return true;
		if (r < 0)
			from = mid + 1;
		else
			to = mid;
	}
	return false;
}

void gated_trees_done(struct places *p)
{
	for (size_t i = 0; i < p->n; i++)
		free(p->list[i]);
	free(p->list);
	*p = (struct places){0};
}

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

/* As the kernel remembers it: a server that does not answer (FUSE, NFS) would hold up every start
 * on this host. */
static bool is_dir(const char *path)
{
	struct statx st;

	return statx(AT_FDCWD, path, AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT | AT_STATX_DONT_SYNC,
		     STATX_TYPE, &st) == 0 &&
	       S_ISDIR(st.stx_mode);
}

/* ---- gated ----------------------------------------------------------------------------------- */

static void find_tops(struct places *all)
{
	AUTO_DIR DIR *d = opendir("/");
	struct dirent *e;

	while (d && (e = readdir(d))) {
		AUTO_FREE char *path = path_join("/", e->d_name);

		if (e->d_name[0] == '.' && (!e->d_name[1] || str_eq(e->d_name, "..")))
			continue;
		if (!str_one_of(e->d_name, system_tops) && is_dir(path))
			gated_trees_add(all, take_ptr(&path));
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
			gated_trees_add(all, xstrdup(m.point));
}

static void find_others(struct places *all)
{
	for (size_t i = 0; i < ARRAY_LEN(others); i++)
		if (is_dir(others[i])) /* no link */
			gated_trees_add(all, xstrdup(others[i]));
}

static int shorter_first(const void *a, const void *b)
{
	const char *const *x = a, *const *y = b;

	return (strlen(*x) > strlen(*y)) - (strlen(*x) < strlen(*y));
}

void places_find_gated(struct places *ret, const struct policy_spec *spec, const char *home)
{
	struct places all = {0};
	char *real = realpath(home, NULL);

	find_tops(&all);
	find_disks(&all);
	find_others(&all);
	if (real && !str_eq(real, "/") && !gated_trees_are_private(real))
		gated_trees_add(&all, real);
	else
		free(real);
	if (all.n)
		qsort(all.list, all.n, sizeof(*all.list), shorter_first);
	for (size_t i = 0; i < all.n; i++)
		if (!gated_trees_hold(ret, all.list[i]) &&
		    !path_is_in(all.list[i], spec->folders) &&
		    !path_is_in(all.list[i], spec->read_only))
			gated_trees_add(ret, xstrdup(all.list[i]));
	gated_trees_done(&all);
}

/* ---- granted by itself ----------------------------------------------------------------------- */

/* For whom it is found. */
struct usual {
	struct places *ret;
	const struct policy_spec *spec;
	const char *home;
	char *real_home; /* or NULL */
	const struct listing *at_home;
};

/* Too much to hand out because something in it is run. */
static bool is_too_wide(const struct usual *u, const char *path)
{
	AUTO_FREE char *local = path_join(u->home, ".local");
	AUTO_FREE char *share = path_join(u->home, ".local/share");
	AUTO_FREE char *config = path_join(u->home, ".config");

	return path_is_beneath(u->home, path) ||
	       (u->real_home && path_is_beneath(u->real_home, path)) || str_eq(path, local) ||
	       str_eq(path, share) || str_eq(path, config) || path_depth(path) < 2;
}

/*
 * The place and, where links lead elsewhere, what they lead to: never by a link that the agent may
 * have made, nor to a place that is too wide. Most of the list is not there: one call finds that,
 * where following links makes one for each name on the way.
 */
static void add_place(const struct usual *u, const char *path)
{
	AUTO_FREE char *real = NULL;
	bool inside = false;

	if (!listing_lacks(u->at_home, path) && access(path, F_OK) == 0) {
		if (links_follow(path, u->spec->folders, &real, &inside) < 0 || inside ||
		    (!str_eq(real, path) && is_too_wide(u, real)))
			return;
		if (!str_eq(real, path) && !gated_trees_hold(u->ret, real))
			gated_trees_add(u->ret, take_ptr(&real));
	}
	if (!gated_trees_hold(u->ret, path))
		gated_trees_add(u->ret, xstrdup(path));
}

static void add_companions(const struct usual *u, const char *bin)
{
	for (size_t i = 0; i < ARRAY_LEN(companions); i++) {
		AUTO_FREE char *from = path_join(u->home, companions[i].bin);
		AUTO_FREE char *with = path_join(u->home, companions[i].with);

		if (str_eq(from, bin))
			add_place(u, with);
	}
}

/* ~/x/1.2/bin is of no use without ~/x/1.2/lib. */
static void add_bin(const struct usual *u, const char *bin)
{
	AUTO_FREE char *parent = path_dir(bin);
	bool whole = str_eq(path_base(bin), "bin") && !is_too_wide(u, parent);

	if (!is_too_wide(u, bin))
		add_place(u, whole ? parent : bin);
	add_companions(u, bin);
}

/* ---- what the human's git configuration names ------------------------------------------------ */

struct git_files {
	const struct usual *u;
	const char *dir; /* of the file that names them */
	int depth;
};

static void read_git_config(struct git_files *g, const char *path);

/* Some keep their tokens in a file of its own that is included. */
static bool sounds_secret(const char *path)
{
	static const char *const words[] = {"secret", "token", "credential", "private", "passw"};

	for (size_t i = 0; i < ARRAY_LEN(words); i++)
		if (strcasestr(path, words[i]))
			return true;
	return false;
}

/* Never by a link that the agent may have made. */
static void take_git_file(void *arg, const char *written)
{
	struct git_files *g = arg;
	AUTO_FREE char *whole = path_expand_home(written, g->u->home);
	AUTO_FREE char *path = *whole == '/' ? path_clean(whole) : path_join(g->dir, whole);
	AUTO_FREE char *real = NULL;
	bool inside = false;
	struct stat st;

	if (links_follow(path, g->u->spec->folders, &real, &inside) < 0 || inside ||
	    path_is_in(real, g->u->spec->folders) || sounds_secret(path) || sounds_secret(real) ||
	    lstat(real, &st) < 0 || !S_ISREG(st.st_mode) || gated_trees_hold(g->u->ret, real))
		return;
	add_place(g->u, real);
	read_git_config(g, real);
}

/* An excludes file has no sections, so nothing is found in it. */
static void read_git_config(struct git_files *g, const char *path)
{
	AUTO_FREE char *text = NULL;
	AUTO_FREE char *dir = path_dir(path);
	AUTO_CLOSE int fd = -1;
	struct git_files next = *g;
	size_t len;

	if (g->depth == GIT_INCLUDES)
		return;
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0 || io_read_all(fd, 256u << 10, &text, &len) < 0)
		return;
	next.dir = dir;
	next.depth++;
	vet_find_files(text, len, take_git_file, &next);
}

static void find_git_files(const struct usual *u)
{
	static const char *const names[] = {".gitconfig", ".config/git/config"};

	for (size_t i = 0; i < ARRAY_LEN(names); i++) {
		AUTO_FREE char *path = path_join(u->home, names[i]);
		struct git_files g = {.u = u, .dir = u->home};

		read_git_config(&g, path);
	}
}

/* ---- what the human said is to run ----------------------------------------------------------- */

/* Of a directory with a bin; what else lies in it may be anybody's. */
static const char *const beside_bin[] = {"lib", "lib64", "libexec", "share", "pyvenv.cfg"};

/*
 * It needs no question, wherever it is: the file, and what it is of no use without, its package of
 * npm's or what is beside its bin. Never by a link that the agent may have made.
 */
static void add_program(const struct usual *u)
{
	const char *const *folders = u->spec->folders, *program = u->spec->program, *modules;
	AUTO_FREE char *real = NULL;
	AUTO_FREE char *dir = NULL;
	AUTO_FREE char *parent = NULL;
	bool inside = false;
	struct stat st;

	if (!program || links_follow(program, folders, &real, &inside) < 0 || inside ||
	    path_is_in(real, folders) || lstat(real, &st) < 0 || !S_ISREG(st.st_mode))
		return;
	add_place(u, program);
	dir = path_dir(real);
	parent = path_dir(dir);
	modules = strstr(real, "/node_modules/");
	if (modules) {
		AUTO_FREE char *packages =
			xasprintf("%.*s/node_modules", (int)(modules - real), real);

		add_place(u, packages);
	}
	for (size_t i = 0; str_eq(path_base(dir), "bin") && i < ARRAY_LEN(beside_bin); i++) {
		AUTO_FREE char *with = path_join(parent, beside_bin[i]);

		if (i == 0 && !is_too_wide(u, dir))
			add_place(u, dir);
		if (!is_too_wide(u, with))
			add_place(u, with);
	}
}

/* ---------------------------------------------------------------------------------------------- */

static void add_certificate(const struct usual *u, const char *path)
{
	AUTO_FREE char *clean = *path == '/' ? path_clean(path) : NULL;
	bool known = clean && gated_trees_name(u->ret, clean); /* many variables name one file */
	AUTO_FREE char *real = clean && !known ? realpath(clean, NULL) : NULL;

	if (real && !is_too_wide(u, clean) && !is_too_wide(u, real))
		add_place(u, clean);
}

static void find_certificates(const struct usual *u)
{
	for (size_t i = 0; certificate_variables[i]; i++) {
		AUTO_FREE char *list = xstrdup(getenv(certificate_variables[i]));
		char *rest = list, *path;

		while (rest && (path = strsep(&rest, ":")))
			add_certificate(u, path);
	}
}

void gated_trees_find_usual(struct places *ret, const struct policy_spec *spec, const char *home,
			    const struct listing *at_home)
{
	AUTO_FREE char *list = xstrdup(spec->path);
	AUTO_FREE char *real_home = realpath(home, NULL);
	const struct usual u = {ret, spec, home, real_home, at_home};
	char *rest = list, *dir;

	for (size_t i = 0; i < ARRAY_LEN(harmless); i++) {
		AUTO_FREE char *path = path_join(home, harmless[i]);

		add_place(&u, path);
	}
	while (rest && (dir = strsep(&rest, ":"))) {
		AUTO_FREE char *clean = *dir == '/' ? path_clean(dir) : NULL;

		if (clean && !path_is_in(clean, spec->folders))
			add_bin(&u, clean);
	}
	find_git_files(&u);
	find_certificates(&u);
	add_program(&u);
}
