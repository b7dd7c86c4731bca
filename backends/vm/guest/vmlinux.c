/* vmlinux - extracts the ELF kernel from a compressed kernel image. */
/* SPDX-License-Identifier: MIT */
#include "backends/vm/guest/vmlinux.h"

#include <errno.h>
#include <string.h>

#include "backends/vm/guest/elf_sections.h"
#include "backends/vm/guest/unpack.h"

/* Documentation/arch/x86/boot.rst: offsets of the set-up header in a bzImage. */
enum {
	SETUP_SECTS = 0x1f1,
	BOOT_FLAG = 0x1fe, /* 0xaa55 */
	HEADER = 0x202,	   /* "HdrS" */
	PAYLOAD_OFFSET = 0x248,
	PAYLOAD_LENGTH = 0x24c,
	HEADER_END = 0x250,
	SECTOR = 512,
	NOTE_PHYS32_ENTRY = 18, /* Xen's: the address where PVH starts */
};

static size_t le32(const char *p)
{
	const unsigned char *b = (const unsigned char *)p;

	return b[0] | (size_t)b[1] << 8 | (size_t)b[2] << 16 | (size_t)b[3] << 24;
}

static bool find_payload(struct span image, struct span *ret)
{
	size_t sectors, at, len;

	if (image.len < HEADER_END || memcmp(image.data + BOOT_FLAG, "\x55\xaa", 2) != 0 ||
	    memcmp(image.data + HEADER, "HdrS", 4) != 0)
		return false;
	sectors = (unsigned char)image.data[SETUP_SECTS];
	at = ((sectors ? sectors : 4) + 1) * SECTOR + le32(image.data + PAYLOAD_OFFSET);
	len = le32(image.data + PAYLOAD_LENGTH);
	if (at > image.len || len > image.len - at)
		return false;
	*ret = (struct span){image.data + at, len};
	return true;
}

int vmlinux_extract(struct span image, struct buf *out, struct err *err)
{
	struct span payload = image, kernel;
	size_t before = out->len;
	int r;

	if (!elf_has_note(image, "Xen", NOTE_PHYS32_ENTRY) && !find_payload(image, &payload))
		return err_say(err, -ENOEXEC, "it is no kernel image of this architecture");
	r = unpack(payload.data, payload.len, out, err);
	if (r < 0)
		return err_wrap(err, r, "unpack the kernel");
	kernel = (struct span){out->data + before, out->len - before};
	if (elf_has_note(kernel, "Xen", NOTE_PHYS32_ENTRY))
		return 0;
	buf_truncate(out, before);
	return err_say(err, -ENOEXEC, "it has no PVH entry point (CONFIG_PVH)");
}
