/* test_vm_guest - what a guest boots from: archives, modules in order, unpacked kernels. */
/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zstd.h>

#include "backends/vm/guest/elf_sections.h"
#include "backends/vm/guest/initramfs.h"
#include "backends/vm/guest/kernel.h"
#include "backends/vm/guest/lz4.h"
#include "backends/vm/guest/modules.h"
#include "backends/vm/guest/newc.h"
#include "backends/vm/guest/unpack.h"
#include "backends/vm/guest/vmlinux.h"
#include "core/base/external.h"
#include "core/base/io.h"
#include "core/base/path.h"
#include "tests/support/check.h"

struct dir {
	char path[64];
};

static int make_dir(void **state)
{
	struct dir *d = xcalloc(1, sizeof(*d));

	snprintf(d->path, sizeof(d->path), "/tmp/test_vm_guest.XXXXXX");
	assert_non_null(mkdtemp(d->path));
	*state = d;
	return 0;
}

static int remove_dir(void **state)
{
	struct dir *d = *state;

	assert_int_equal(io_remove_tree(AT_FDCWD, d->path), 0);
	free(d);
	return 0;
}

static void write_in(const struct dir *d, const char *name, const void *data, size_t len)
{
	AUTO_FREE char *path = path_join(d->path, name);
	AUTO_FREE char *parent = xstrndup(path, (size_t)(strrchr(path, '/') - path));

	assert_int_equal(io_mkdir_p(AT_FDCWD, parent, 0755), 0);
	assert_int_equal(io_write_file(AT_FDCWD, path, 0644, data, len, false), 0);
}

/* Returns a program's output about a file in the directory. Heap; NULL: no such program. */
static char *ask(const struct dir *d, const char *program, const char *command)
{
	AUTO_FREE char *have = xasprintf("command -v %s >/dev/null", program);
	AUTO_FREE char *line = xasprintf("cd %s && %s 2>&1", d->path, command);
	AUTO_BUF struct buf out = BUF_INIT;
	char part[4096];
	size_t n;
	FILE *f;

	if (system(have) != 0)
		return NULL;
	f = popen(line, "r");
	assert_non_null(f);
	while ((n = fread(part, 1, sizeof(part), f)) > 0)
		buf_add(&out, part, n);
	assert_int_equal(pclose(f), 0);
	return buf_take(&out);
}

/* ---- archives -------------------------------------------------------------------------------- */

TEST(an_archive_is_what_cpio_takes)
{
	struct dir *d = *state;
	AUTO_BUF struct buf b = BUF_INIT;
	AUTO_FREE char *list = NULL;
	AUTO_FREE char *content = NULL;

	newc_dir(&b, "m", 0700);
	newc_file(&b, "m/empty", 0600, "", 0);
	newc_file(&b, "m/one", 0644, "1", 1);
	newc_file(&b, "init", 0755, "#!/bin/sh\n\0\n", 12);
	newc_end(&b);
	write_in(d, "a.cpio", b.data, b.len);
	list = ask(d, "cpio", "cpio -itv --quiet <a.cpio | awk '{print $1, $3, $5, $NF}'");
	if (!list) {
		buf_done(&b); /* skip() does not return */
		skip();
	}
	assert_string_equal(list, "drwx------ root 0 m\n-rw------- root 0 m/empty\n"
				  "-rw-r--r-- root 1 m/one\n-rwxr-xr-x root 12 init\n");
	content = ask(d, "cpio", "cpio -id --quiet <a.cpio && od -An -c init | tr -d ' \\n'");
	assert_string_equal(content, "#!/bin/sh\\n\\0\\n");
}

TEST_WITH(archives_follow_each_other, NULL, NULL)
{
	AUTO_BUF struct buf b = BUF_INIT;
	const struct guest_share shares[] = {{"cordon0", "/home/u/a b", false},
					     {"cordon1", "/srv", true}};
	const struct guest_conf conf = {
		.root = "root", .disk = "", .upper = 5, .host = "h", .shares = shares, .n = 2};
	static const char want[] = "root\0\0005\0h\0\0cordon0\0rw\0/home/u/a b\0cordon1\0ro\0/srv";

	newc_file(&b, "x", 0600, "abc", 3);
	newc_end(&b);
	assert_int_equal(b.len % 4, 0);
	initramfs_session(&b, &conf);
	assert_int_equal(b.len % 4, 0);
	assert_non_null(memmem(b.data, b.len, want, sizeof(want)));
}

/* ---- modules --------------------------------------------------------------------------------- */

static char *joined(struct modules *m, const char *name)
{
	AUTO_BUF struct buf b = BUF_INIT;
	struct err err = {0};
	char **list = NULL;
	size_t n = 0;
	int r = modules_add(m, name, &list, &n, &err);

	for (size_t i = 0; i < n; i++)
		buf_fmt(&b, "%s%s", i ? " " : "", list[i]);
	util_free_list(&list);
	return r < 0 ? NULL : buf_take(&b);
}

TEST(modules_come_after_what_they_need)
{
	static const char dep[] = "k/a.ko: k/b.ko k/c-c.ko.xz\nk/b.ko: k/c-c.ko.xz\nk/c-c.ko.xz:\n"
				  "k/loop1.ko: k/loop2.ko\nk/loop2.ko: k/loop1.ko\n";
	struct dir *d = *state;
	AUTO_FREE char *order = NULL;
	AUTO_FREE char *again = NULL;
	AUTO_FREE char *built = NULL;
	AUTO_FREE char *loop = NULL;
	struct err err = {0};
	struct modules *m;

	write_in(d, "modules.dep", dep, sizeof(dep) - 1);
	write_in(d, "modules.builtin", "k/in.ko\n", 8);
	assert_int_equal(modules_open(&m, d->path, &err), 0);
	order = joined(m, "a");
	assert_string_equal(order, "k/c-c.ko.xz k/b.ko k/a.ko");
	again = joined(m, "c_c"); /* already in the list */
	assert_string_equal(again, "");
	built = joined(m, "in");
	assert_string_equal(built, "");
	loop = joined(m, "loop1"); /* circular, but it ends */
	assert_string_equal(loop, "k/loop2.ko k/loop1.ko");
	assert_null(joined(m, "absent"));
	assert_true(modules_has(m, "in") && modules_has(m, "c_c") && !modules_has(m, "d"));
	modules_free(m);
}

/* The oracle, if there are modules: what modprobe(8) would load, in its order. */
TEST(the_order_is_modprobes)
{
	struct dir *d = *state;
	AUTO_FREE char *release = ask(
		d, "modprobe",
		"for d in /lib/modules/*/modules.dep; do [ -s $d ] && basename ${d%/*} && break; "
		"done; true");
	AUTO_FREE char *dir = NULL;
	AUTO_FREE char *command = NULL;
	AUTO_FREE char *want = NULL;
	AUTO_FREE char *got = NULL;
	AUTO_BUF struct buf names = BUF_INIT;
	struct err err = {0};
	struct modules *m;

	if (!release || !*release) {
		free(take_ptr(&release)); /* skip() does not return */
		skip();
	}
	release[strcspn(release, "\n")] = '\0';
	dir = xasprintf("/lib/modules/%s", release);
	assert_int_equal(modules_open(&m, dir, &err), 0);
	command = xasprintf("modprobe -S %s --show-depends virtiofs | awk '$1 == \"insmod\" {n = "
			    "split($2, p, \"/\"); print p[n]}'",
			    release);
	want = ask(d, "modprobe", command);
	got = joined(m, "virtiofs");
	for (char *rest, *p = got ? strtok_r(got, " ", &rest) : NULL; p;
	     p = strtok_r(NULL, " ", &rest))
		buf_fmt(&names, "%s\n", path_base(p));
	assert_string_equal(names.data, want);
	modules_free(m);
}

/* ---- kernels --------------------------------------------------------------------------------- */

/* The smallest ELF file with a note. */
static size_t make_elf(unsigned char out[256], const char *owner, unsigned char type)
{
	static const unsigned char head[16] = {0x7f, 'E', 'L', 'F', 2, 1, 1};

	memset(out, 0, 256);
	memcpy(out, head, sizeof(head));
	out[32] = 64;  /* e_phoff */
	out[54] = 56;  /* e_phentsize */
	out[56] = 1;   /* e_phnum */
	out[64] = 4;   /* PT_NOTE */
	out[72] = 120; /* p_offset */
	out[96] = 20;  /* p_filesz */
	out[120] = 4;  /* n_namesz */
	out[124] = 4;  /* n_descsz */
	out[128] = type;
	memcpy(out + 132, owner, 4);
	return 140;
}

/* Makes a bzImage with this payload. */
static void make_image(struct buf *b, const void *payload, size_t len)
{
	char head[2 * 512] = {0};

	head[0x1f1] = 1; /* one sector of set-up code, after the boot sector */
	memcpy(head + 0x1fe, "\x55\xaa", 2);
	memcpy(head + 0x202, "HdrS", 4);
	head[0x24c] = (char)(len + 4);
	head[0x24d] = (char)((len + 4) >> 8);
	buf_add(b, head, sizeof(head));
	buf_add(b, payload, len);
	buf_add(b, "\x8c\0\0\0", 4); /* the size, which the kernel's build appends */
}

static void check_extract(const void *payload, size_t len, const void *want, size_t want_len)
{
	AUTO_BUF struct buf image = BUF_INIT;
	AUTO_BUF struct buf out = BUF_INIT;
	struct err err = {0};

	make_image(&image, payload, len);
	assert_int_equal(vmlinux_extract((struct span){image.data, image.len}, &out, &err), 0);
	assert_int_equal(out.len, want_len);
	assert_memory_equal(out.data, want, want_len);
	/* Cut at any byte it is an error, or complete. */
	for (size_t n = 0; n < image.len; n++) {
		AUTO_BUF struct buf part = BUF_INIT;

		if (vmlinux_extract((struct span){image.data, n}, &part, &err) == 0)
			assert_int_equal(part.len, want_len);
	}
}

TEST(a_kernel_is_unpacked_however_it_is_packed)
{
	struct dir *d = *state;
	unsigned char elf[256];
	char packed[512];
	size_t len = make_elf(elf, "Xen", 18), n;
	static const char *const programs[][2] = {
		{"gzip", "gzip -n <elf >p"},
		{"xz", "xz --check=crc32 <elf >p"},
		{"lz4", "lz4 -l -q elf p"},
	};

	n = ZSTD_compress(packed, sizeof(packed), elf, len, 3);
	assert_false(ZSTD_isError(n));
	check_extract(packed, n, elf, len);
	write_in(d, "elf", elf, len);
	for (size_t i = 0; i < ARRAY_LEN(programs); i++) {
		AUTO_FREE char *said = NULL;
		AUTO_FREE char *bytes = NULL;
		AUTO_FREE char *path = xasprintf("%s/p", d->path);

		unlink(path);
		said = ask(d, programs[i][0], programs[i][1]);
		if (!said)
			continue;
		assert_int_equal(io_read_file(AT_FDCWD, path, 4096, &bytes, &n), 0);
		if (i != 1) /* one program each time, which is slow */
			check_extract(bytes, n, elf, len);
		else {
			AUTO_BUF struct buf out = BUF_INIT;
			struct err err = {0};

			assert_int_equal(unpack(bytes, n, &out, &err), 0);
			assert_int_equal(out.len, len);
			assert_memory_equal(out.data, elf, len);
		}
	}
}

TEST_WITH(what_is_no_kernel_is_said_to_be_none, NULL, NULL)
{
	AUTO_BUF struct buf out = BUF_INIT;
	AUTO_BUF struct buf image = BUF_INIT;
	unsigned char elf[256];
	struct err err = {0};
	size_t len = make_elf(elf, "Xen", 17);

	assert_int_equal(vmlinux_extract((struct span){"hello", 5}, &out, &err), -ENOEXEC);
	make_image(&image, elf, len); /* no such entry point */
	assert_int_equal(vmlinux_extract((struct span){image.data, image.len}, &out, &err),
			 -ENOEXEC);
	assert_int_equal(out.len, 0);
	len = make_elf(elf, "GNU", 18);
	assert_false(elf_has_note((struct span){(char *)elf, len}, "Xen", 18));
	len = make_elf(elf, "Xen", 18);
	assert_true(elf_has_note((struct span){(char *)elf, len}, "Xen", 18));
	for (size_t n = 0; n < len; n++)
		assert_false(elf_has_note((struct span){(char *)elf, n}, "Xen", 18));
}

/* Each byte of a packed block is changed, and each cut is tried: never more than max, never out of
 * bounds. */
TEST_WITH(damaged_lz4_is_refused_or_bounded, NULL, NULL)
{
	static const char good[] = "\x02\x21\x4c\x18\x0c\0\0\0\x3f"
				   "abc\x03\0\x20\x40xyzw";
	char bytes[sizeof(good)];

	for (size_t at = 0; at < sizeof(good) - 1; at++)
		for (int value = 0; value < 256; value += 5) {
			AUTO_BUF struct buf out = BUF_INIT;

			memcpy(bytes, good, sizeof(good));
			bytes[at] = (char)value;
			if (lz4_unpack(bytes, sizeof(good) - 1, 100, &out) == 0)
				assert_true(out.len <= 100);
		}
	for (size_t n = 0; n < sizeof(good); n++) {
		AUTO_BUF struct buf out = BUF_INIT;

		if (lz4_unpack(good, n, 100, &out) == 0)
			assert_true(out.len <= 100);
	}
}

static void refused(const char *setting, const char *why)
{
	struct kernels k;
	struct err err = {0};

	assert_true(kernels_find(&k, setting, "/nowhere", &err) < 0);
	if (!strstr(err.text, why))
		print_error("%s\n", err.text);
	assert_non_null(strstr(err.text, why));
	assert_null(strchr(err.text, '\n'));
	assert_true(k.n == 0 && !k.unreadable);
}

/* Each is reported in a line that says what to do, without a wait. */
TEST(what_cannot_be_a_kernel_is_refused)
{
	const struct dir *d = *state;
	AUTO_FREE char *image = path_join(d->path, "boot/vmlinuz-1");
	AUTO_FREE char *fifo = path_join(d->path, "boot/vmlinuz-2");
	AUTO_FREE char *dir = path_join(d->path, "boot/vmlinuz-3");
	AUTO_FREE char *absent = path_join(d->path, "boot/vmlinuz-4");
	uid_t own = getuid();
	struct kernels k;
	struct err err = {0};

	for (int i = 1; i < 5; i++) {
		AUTO_FREE char *modules = xasprintf("lib/modules/%d/modules.order", i);

		write_in(d, modules, "", 0);
	}
	write_in(d, "boot/vmlinuz-1", "x", 1);
	assert_int_equal(mkfifo(fifo, 0644), 0);
	assert_int_equal(mkdir(dir, 0755), 0);
	assert_int_equal(kernels_find(&k, image, "/nowhere", &err), 0);
	assert_int_equal(k.n, 1);
	kernels_done(&k);
	refused(fifo, "is no file: name a kernel's image");
	refused(dir, "is no file: name a kernel's image");
	refused(absent, "No such file");
	assert_int_equal(chmod(image, 0), 0);
	if (own == 0) /* access(2) uses the real id */
		assert_int_equal(setreuid(12345, 0), 0);
	refused(image, "you may not read");
	if (own == 0)
		assert_int_equal(setreuid(0, 0), 0);
}

int main(void)
{
	external_keep_out(NULL); /* no agent writes here */
	return run_all(make_dir, remove_dir, NULL, NULL);
}
