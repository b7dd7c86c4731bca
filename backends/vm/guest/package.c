/* package - downloads a kernel for guests, if the host has none that the user can read. */
/* SPDX-License-Identifier: MIT */
#include "backends/vm/guest/package.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "backends/vm/guest/guest.h"
#include "core/base/io.h"
#include "core/base/external.h"

/*
 * $1: directory for unpacked packages. The smallest kernel is tried first. Ubuntu has a separate
 * package of modules. A package appears under its final name after it is unpacked completely.
 */
static const char script[] =
	"set -eu\n"
	"LC_ALL=C; export LC_ALL\n"
	"for p in linux-image-cloud-amd64 linux-image-amd64 linux-image-virtual; do\n"
	"	image=$(apt-cache depends $p 2>/dev/null |\n"
	"		sed -n 's/^ *Depends: *\\(linux-image-[0-9][^ ]*\\)$/\\1/p' | head -n 1)\n"
	"	[ -z \"$image\" ] || break\n"
	"done\n"
	"[ -n \"$image\" ] || { echo 'cordon: apt knows no kernel: run apt-get update' >&2; exit "
	"1; }\n"
	"modules=linux-modules-${image#linux-image-}\n"
	"apt-cache show $modules >/dev/null 2>&1 || modules=\n"
	"size=$(apt-cache show --no-all-versions $image $modules | awk '/^Size:/ {n += $2} END "
	"{print "
	"int(n / 1048576) + 1}')\n"
	"echo \"downloading $image $modules: $size MiB\"\n"
	"rm -rf \"$1/.new\" && mkdir -p \"$1/.new\" && cd \"$1/.new\"\n"
	"apt-get -qq -o APT::Sandbox::User=root download $image $modules >&2\n"
	"for deb in *.deb; do\n"
	"	dpkg-deb --fsys-tarfile \"$deb\" | tar -x --wildcards '*/boot/vmlinuz-*' "
	"'*/modules.*' \\\n"
	"		'*/kernel/fs/*' '*/kernel/lib/*' '*/kernel/crypto/*' '*/kernel/arch/*' \\\n"
	"		'*/kernel/drivers/virtio/*' '*/kernel/drivers/char/*' "
	"'*/kernel/drivers/block/*' \\\n"
	"		'*/kernel/net/core/failover.ko*' '*/kernel/drivers/net/net_failover.ko*' "
	"\\\n"
	"		'*/kernel/drivers/net/virtio_net.ko*' \\\n"
	"		2>/dev/null || true\n" /* a package need not have all of them */
	"done\n"
	"rm -f -- *.deb\n"
	"ls boot/vmlinuz-* >/dev/null\n"
	"rm -rf \"$1/$image\" && mv \"$1/.new\" \"$1/$image\"\n"
	"echo \"unpacked: $(du -sm \"$1/$image\" | cut -f 1) MiB in $1/$image\"\n";

int package_download(const char *state_dir, struct err *err)
{
	AUTO_FREE char *dir = guest_packages(state_dir);
	const char *const argv[] = {"sh", "-c", script, "sh", dir, NULL};
	int r;

	if (access("/usr/bin/apt-get", X_OK) < 0)
		return err_say(err, -EOPNOTSUPP,
			       "there is no apt-get here: install your distribution's kernel, or "
			       "name one with vm.kernel");
	r = io_mkdir_p(AT_FDCWD, dir, 0700);
	if (r < 0)
		return err_set(err, r, "make '%s'", dir);
	r = external_run_here(argv, err);
	return r > 0 ? err_say(err, -EIO, "download a kernel: it has failed: see above") : r;
}
