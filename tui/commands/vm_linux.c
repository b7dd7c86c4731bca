/* vm_linux - `cordon vm build`, `list` and `reset`: files of virtual machines. */
/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "backends/vm/disk.h"
#include "backends/vm/guest/guest.h"
#include "backends/vm/guest/package.h"
#include "core/base/json.h"
#include "core/session/folders.h"
#include "tui/commands/commands.h"
#include "tui/commands/flags.h"
#include "tui/commands/here.h"
#include "tui/commands/show.h"

struct vm_flags {
	bool download, json;
	const char *kernel;
};

static const struct flag flags[] = {
	{"--download", NULL, offsetof(struct vm_flags, download),
	 "build: download the smallest kernel package of the distribution (27 MB on Debian) by "
	 "apt-get; nothing is installed"},
	{"--kernel", "FILE", offsetof(struct vm_flags, kernel),
	 "build: use this image, vmlinuz-RELEASE; its modules are beside it or installed"},
	{"--json", NULL, offsetof(struct vm_flags, json),
	 "list: one JSON object a line: folder, used and size (bytes), in_use"},
};

static const struct usage usage = {
	"vm build [--download | --kernel FILE] | vm list [--json] | vm reset",
	"build prepares the kernel and the initial files of --backend vm, and prints their size; "
	"the first start does the same, but downloads nothing. list shows the disk images that "
	"persistent guests keep, reset removes the image of this folder.",
	flags,
	ARRAY_LEN(flags),
};

static int64_t mib(int64_t bytes)
{
	return (bytes + (1 << 20) - 1) >> 20;
}

static int build(const struct here *p, const struct vm_flags *o, struct err *err)
{
	AUTO_FREE char *shim = guest_shim(err);
	const struct guest_spec spec = {
		.state_dir = p->state_dir, .kernel = o->kernel, .shim = shim};
	struct guest g = {0};
	int r = shim ? 0 : err->code;

	if (r == 0 && o->download)
		r = package_download(p->state_dir, err);
	if (r == 0)
		r = guest_prepare(&g, &spec, err);
	if (r == 0)
		printf("guest of kernel %s: %" PRId64 " MiB %s in %.*s\n", g.release, mib(g.size),
		       g.made ? "made" : "are up to date", (int)(strrchr(g.kernel, '/') - g.kernel),
		       g.kernel);
	guest_done(&g);
	return r;
}

static void print_disk(void *data, const struct disk *d)
{
	const bool *json = data;
	AUTO_BUF struct buf b = BUF_INIT;

	if (*json) {
		buf_ch(&b, '{');
		json_member(&b, "folder", d->folder);
		printf("%s,\"used\":%" PRId64 ",\"size\":%" PRId64 ",\"in_use\":%s}\n", b.data,
		       d->used, d->size, d->busy ? "true" : "false");
		return;
	}
	printf("%6" PRId64 " of %6" PRId64 " MiB  ", mib(d->used), mib(d->size));
	show_text(d->folder, strlen(d->folder));
	printf("%s\n", d->busy ? "  (in use)" : "");
}

static int run(const struct here *p, const struct strings *w, struct vm_flags *o, struct err *err)
{
	int r;

	if (str_eq(w->list[0], "build"))
		return build(p, o, err);
	if (str_eq(w->list[0], "list"))
		return disk_list(p->state_dir, print_disk, &o->json, err);
	r = disk_remove(p->state_dir, p->folder, err);
	if (r == 0)
		printf("The guest's image of %s is removed.\n", p->folder);
	return r;
}

static int check_words(const struct strings *w, const struct vm_flags *o, struct err *err)
{
	const char *const known[] = {"build", "list", "reset", NULL};

	if (w->n != 1 || !str_one_of(w->list[0], known))
		return err_say(err, -EINVAL, "vm: usage: cordon %s", usage.synopsis);
	if (o->download && o->kernel)
		return err_say(err, -EINVAL, "vm build: --download and --kernel: keep one");
	return 0;
}

int cmd_vm(int argc, char **argv, struct err *err)
{
	AUTO_HERE struct here p = {0};
	struct vm_flags o = {0};
	AUTO_STRINGS struct strings words = {0};
	int r = flags_parse(&usage, argc, argv, &o, &words, err);

	if (r == 0)
		r = check_words(&words, &o, err);
	if (r == 0)
		r = here_find(&p, err);
	if (r)
		return r < 0 ? CMD_FAILED : 0;
	folders_keep_out(p.state_dir, p.home, NULL, NULL);
	r = run(&p, &words, &o, err);
	return finish(r < 0 ? CMD_REFUSED : 0, err);
}
