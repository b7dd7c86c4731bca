/* usual_trees - finds the places that dynamic mode grants unasked: settings, programs. */
/* SPDX-License-Identifier: MIT */
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/io.h"
#include "core/base/path.h"
#include "core/policy/builtin/certificates.h"
#include "core/policy/policy_priv.h"

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

/* Limits how deep git configurations include others. */
#define GIT_INCLUDES 4

/* Trees that the programs in a directory of $PATH below $HOME need, besides its parent. */
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

struct usual {
	struct places *ret;
	const struct policy_spec *spec;
	const char *home;
	char *real_home; /* or NULL */
	const struct listing *at_home;
};

/* Returns whether the place is too large to be granted for a program in it. */
static bool is_too_wide(const struct usual *u, const char *path)
{
	AUTO_FREE char *local = path_join(u->home, ".local");
	AUTO_FREE char *share = path_join(u->home, ".local/share");
	AUTO_FREE char *config = path_join(u->home, ".config");

	return path_is_beneath(u->home, path) ||
	       (u->real_home && path_is_beneath(u->real_home, path)) || str_eq(path, local) ||
	       str_eq(path, share) || str_eq(path, config) || path_depth(path) < 2;
}

/* Adds the place and the targets of its links. Never follows a link that the agent may have made,
 * nor adds a target that is too wide. Most of the list does not exist: one call finds that, whereas
 * following links takes one for each component. */
static void add_place(const struct usual *u, const char *path)
{
	AUTO_FREE char *real = NULL;
	bool inside = false;

	if (!listing_lacks(u->at_home, path) && access(path, F_OK) == 0) {
		if (links_follow(path, u->spec->folders, &real, &inside) < 0 || inside ||
		    (!str_eq(real, path) && is_too_wide(u, real)))
			return;
		if (!str_eq(real, path) && !places_cover(u->ret, real))
			places_add(u->ret, take_ptr(&real));
	}
	if (!places_cover(u->ret, path))
		places_add(u->ret, xstrdup(path));
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

/* A program in ~/x/1.2/bin also needs ~/x/1.2/lib. */
static void add_bin(const struct usual *u, const char *bin)
{
	AUTO_FREE char *parent = path_dir(bin);
	bool whole = str_eq(path_base(bin), "bin") && !is_too_wide(u, parent);

	if (!is_too_wide(u, bin))
		add_place(u, whole ? parent : bin);
	add_companions(u, bin);
}

struct git_files {
	const struct usual *u;
	const char *dir; /* directory of the file that names them */
	int depth;
};

static void read_git_config(struct git_files *g, const char *path);

/* Some users keep tokens in a separate file, which their configuration includes. */
static bool sounds_secret(const char *path)
{
	static const char *const words[] = {"secret", "token", "credential", "private", "passw"};

	for (size_t i = 0; i < ARRAY_LEN(words); i++)
		if (strcasestr(path, words[i]))
			return true;
	return false;
}

/* Never follows a link that the agent may have made. */
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
	    lstat(real, &st) < 0 || !S_ISREG(st.st_mode) || places_cover(g->u->ret, real))
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

/* Entries beside a bin that belong to it. */
static const char *const beside_bin[] = {"lib", "lib64", "libexec", "share", "pyvenv.cfg"};

/* Adds the program that the user named, at any place, and what it needs: its npm package, or the
 * entries beside its bin. Never follows a link that the agent may have made. */
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

static void add_certificate(const struct usual *u, const char *path)
{
	AUTO_FREE char *clean = *path == '/' ? path_clean(path) : NULL;
	bool known = clean && places_has(u->ret, clean); /* several variables may name one file */
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

void usual_trees_find(struct places *ret, const struct policy_spec *spec, const char *home,
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
