/* initramfs - builds the guest's initramfs: modules, pid 1, and the session's settings. */
/* SPDX-License-Identifier: MIT */
#include "backends/vm/guest/initramfs.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>

#include "backends/vm/guest/newc.h"
#include "core/base/io.h"

#define SHIM_MAX ((size_t)16 << 20)

/* The guest's modules. A kernel may lack those that are not needed. */
static const struct {
	const char *name;
	bool needed;
} wanted[] = {
	{"virtio_pci", true}, {"virtio_console", true}, {"virtiofs", true}, {"overlay", true},
	{"virtio_net", true}, {"virtio_blk", false},	{"ext4", false},    {"virtio_rng", false},
};

static int add_module(struct buf *out, struct buf *order, struct modules *m, const char *path,
		      struct err *err)
{
	AUTO_BUF struct buf bytes = BUF_INIT;
	AUTO_FREE char *name = modules_name(path);
	AUTO_FREE char *file = xasprintf("m/%s.ko", name);
	int r = modules_read(m, path, &bytes, err);

	if (r < 0)
		return r;
	newc_file(out, file, 0600, bytes.data, bytes.len);
	buf_fmt(order, "%s\n", name);
	return 0;
}

static int add_modules(struct buf *out, struct modules *m, struct err *err)
{
	AUTO_BUF struct buf order = BUF_INIT;
	char **list = NULL;
	size_t n = 0;
	int r = 0;

	for (size_t i = 0; i < ARRAY_LEN(wanted) && r == 0; i++)
		if (wanted[i].needed || modules_has(m, wanted[i].name))
			r = modules_add(m, wanted[i].name, &list, &n, err);
	newc_dir(out, "m", 0700);
	for (size_t i = 0; i < n && r == 0; i++)
		r = add_module(out, &order, m, list[i], err);
	util_free_list(&list);
	newc_file(out, "m/order", 0600, order.data, order.len);
	return r;
}

int initramfs_base(struct buf *out, const char *modules_dir, const char *shim, struct err *err)
{
	AUTO_FREE char *init = NULL;
	struct modules *m;
	size_t len = 0;
	int r = modules_open(&m, modules_dir, err);

	if (r < 0)
		return r;
	r = add_modules(out, m, err);
	modules_free(m);
	if (r < 0)
		return r;
	r = io_read_file(AT_FDCWD, shim, SHIM_MAX, &init, &len);
	if (r < 0)
		return err_set(err, r, "read '%s'", shim);
	newc_file(out, "init", 0700, init, len);
	newc_end(out);
	return 0;
}

static void add_string(struct buf *b, const char *s)
{
	buf_add(b, s, strlen(s) + 1);
}

void initramfs_session(struct buf *out, const struct guest_conf *conf)
{
	AUTO_BUF struct buf text = BUF_INIT;
	char number[32];

	snprintf(number, sizeof(number), "%" PRId64, conf->upper);
	add_string(&text, conf->root);
	add_string(&text, conf->disk);
	add_string(&text, number);
	add_string(&text, conf->host);
	add_string(&text, conf->net ? "net" : "");
	for (size_t i = 0; i < conf->n; i++) {
		add_string(&text, conf->shares[i].tag);
		add_string(&text, conf->shares[i].read_only ? "ro" : "rw");
		add_string(&text, conf->shares[i].path);
	}
	newc_file(out, "conf", 0600, text.data, text.len);
	newc_end(out);
}
