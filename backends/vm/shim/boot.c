/* boot - from the initramfs to the guest's own tree: modules, mounts, ports. */
/* SPDX-License-Identifier: MIT */
#include "backends/vm/shim/shim.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/reboot.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/statvfs.h>
#include <sys/vfs.h>
#include <time.h>
#include <unistd.h>

#define CONF_MAX   (64 << 10)
#define ROOM_LEAST (64u << 10) /* an image with less free space counts as full */

static char conf[CONF_MAX + 1];
static size_t conf_len;
static int kept = -1; /* the file system for the guest's own changes */
bool image_is_full;

void console_say(const char *fmt, ...)
{
	char line[512];
	va_list ap;
	int fd = open("/dev/console", O_WRONLY | O_NOCTTY | O_CLOEXEC), n;

	va_start(ap, fmt);
	n = vsnprintf(line, sizeof(line) - 1, fmt, ap);
	va_end(ap);
	n = n < (int)sizeof(line) - 1 ? n : (int)sizeof(line) - 2;
	line[n] = '\n';
	if (fd < 0 || write(fd, line, (size_t)n + 1) < 0)
		fd = -1;
	if (fd >= 0)
		close(fd);
}

static void nap(void)
{
	nanosleep(&(struct timespec){.tv_nsec = 5000000}, NULL);
}

void power_off(void)
{
	/* Sync the image first: it does not need the keeper, which may refuse changes of folders by
	 * now. */
	if (kept >= 0)
		syncfs(kept);
	sync();
	reboot(RB_POWER_OFF);
	reboot(RB_AUTOBOOT); /* equivalent: QEMU does not restart */
	for (;;)
		pause();
}

void die(const char *what)
{
	console_say("cordon: the guest did not start: %s: %s", what, strerror(errno));
	power_off();
}

/* ---- modules --------------------------------------------------------------------------------- */

static void load(const char *name)
{
	char path[256];
	int fd;

	snprintf(path, sizeof(path), "/m/%s.ko", name);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0 || (syscall(SYS_finit_module, fd, "", 0) < 0 && errno != EEXIST))
		console_say("cordon: load %s: %s", name, strerror(errno));
	if (fd >= 0)
		close(fd);
}

static void load_all(void)
{
	char line[200];
	FILE *f = fopen("/m/order", "re");

	while (f && fgets(line, sizeof(line), f)) {
		line[strcspn(line, "\n")] = '\0';
		if (*line)
			load(line);
	}
	if (f)
		fclose(f);
}

/* ---- ports ----------------------------------------------------------------------------------- */

/* Opens a port by the name that the host gave it: "control" -> /dev/vport1p1. Returns -1 if it does
 * not exist yet. */
static int open_port(const char *wanted)
{
	DIR *d = opendir("/sys/class/virtio-ports");
	struct dirent *e;
	int found = -1;

	while (d && found < 0 && (e = readdir(d))) {
		char path[512], name[64] = "";
		FILE *f;

		snprintf(path, sizeof(path), "/sys/class/virtio-ports/%s/name", e->d_name);
		f = *e->d_name == '.' ? NULL : fopen(path, "re");
		if (!f)
			continue;
		if (fgets(name, sizeof(name), f))
			name[strcspn(name, "\n")] = '\0';
		fclose(f);
		snprintf(path, sizeof(path), "/dev/%s", e->d_name);
		if (strcmp(name, wanted) == 0)
			found = open(path, O_RDWR | O_NONBLOCK | O_CLOEXEC | O_NOCTTY);
	}
	if (d)
		closedir(d);
	return found;
}

static int wait_port(const char *name)
{
	for (int i = 0; i < 2000; i++) {
		int fd = open_port(name);

		if (fd >= 0)
			return fd;
		nap();
	}
	errno = ENODEV;
	die("virtio-serial ports");
}

/* ---- mounts ---------------------------------------------------------------------------------- */

static void must_mount(const char *source, const char *target, const char *type,
		       unsigned long flags, const char *options)
{
	static char what[512];

	if (mount(source, target, type, flags, options) == 0)
		return;
	snprintf(what, sizeof(what), "mount %s on %s", source, target);
	die(what);
}

static void make_dirs(const char *path)
{
	char copy[4096];

	snprintf(copy, sizeof(copy), "%s", path);
	for (char *p = copy + 1; *p; p++) {
		if (*p == '/') {
			*p = '\0';
			mkdir(copy, 0755);
			*p = '/';
		}
	}
	mkdir(copy, 0755);
}

/* Returns the next string of the configuration; ends the boot if there is none. */
static const char *next(size_t *at)
{
	const char *s = conf + *at;

	if (*at >= conf_len) {
		errno = EPROTO;
		die("read the configuration");
	}
	*at += strlen(s) + 1;
	return s;
}

/* Reads the host's configuration (backends/vm/guest/initramfs.h): strings that end with NUL. */
static void read_conf(void)
{
	int fd = open("/conf", O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : read(fd, conf, CONF_MAX);

	if (n < 0)
		die("read the configuration");
	conf_len = (size_t)n;
	close(fd);
}

/* Mounts the file system for the guest's changes. Its journal repairs a disk after a crash of the
 * host. */
static void mount_upper(const char *disk, const char *size)
{
	char options[64];
	struct statfs fs;

	mkdir("/.kept", 0700);
	if (*disk) {
		must_mount(disk, "/.kept", "ext4", MS_NOSUID | MS_NODEV, NULL);
		image_is_full = statfs("/.kept", &fs) == 0 &&
				(fs.f_bavail * (size_t)fs.f_bsize < ROOM_LEAST || !fs.f_ffree);
	} else {
		snprintf(options, sizeof(options), "mode=0755,size=%s", size);
		must_mount("upper", "/.kept", "tmpfs", 0, options);
	}
	kept = open("/.kept", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	mkdir("/.kept/upper", 0755);
	mkdir("/.kept/work", 0700);
}

static void mount_root(const char *tag)
{
	struct statfs fs;

	mkdir("/.lower", 0755);
	mkdir("/.root", 0755);
	must_mount(tag, "/.lower", "virtiofs", MS_RDONLY | MS_NOSUID | MS_NODEV, NULL);
	must_mount("root", "/.root", "overlay", MS_NODEV,
		   "lowerdir=/.lower,upperdir=/.kept/upper,workdir=/.kept/work,index=off,xino=off,"
		   "metacopy=off,redirect_dir=off");
	/* If overlayfs had no room for its work directory, it is read-only, so files cannot be
	 * removed. */
	if (!image_is_full || statfs("/.root", &fs) < 0 || !(fs.f_flags & ST_RDONLY))
		return;
	console_say("cordon: the guest did not start: its image is full: `cordon vm reset` removes "
		    "it, with all that the guest has kept");
	power_off();
}

/* Mounts the guest's own file systems over the host's directories. */
static void mount_own(void)
{
	static const struct {
		const char *path, *type, *options;
		unsigned long flags;
	} own[] = {
		{"/.root/proc", "proc", NULL, MS_NOSUID | MS_NODEV | MS_NOEXEC},
		{"/.root/sys", "sysfs", NULL, MS_NOSUID | MS_NODEV | MS_NOEXEC},
		{"/.root/dev", "devtmpfs", "mode=0755", MS_NOSUID | MS_NOEXEC},
		{"/.root/dev/pts", "devpts", "gid=5,mode=0620,ptmxmode=0666",
		 MS_NOSUID | MS_NOEXEC},
		{"/.root/dev/shm", "tmpfs", "mode=1777", MS_NOSUID | MS_NODEV},
		{"/.root/run", "tmpfs", "mode=0755", MS_NOSUID | MS_NODEV},
		{"/.root/tmp", "tmpfs", "mode=1777", MS_NOSUID | MS_NODEV},
		{"/.root/var/tmp", "tmpfs", "mode=1777", MS_NOSUID | MS_NODEV},
	};
	static const char *const links[][2] = {
		{"/proc/self/fd", "/.root/dev/fd"},
		{"/proc/self/fd/0", "/.root/dev/stdin"},
		{"/proc/self/fd/1", "/.root/dev/stdout"},
		{"/proc/self/fd/2", "/.root/dev/stderr"},
	};

	for (size_t i = 0; i < sizeof(own) / sizeof(*own); i++) {
		make_dirs(own[i].path);
		must_mount(own[i].type, own[i].path, own[i].type, own[i].flags, own[i].options);
	}
	for (size_t i = 0; i < sizeof(links) / sizeof(*links); i++)
		if (symlink(links[i][0], links[i][1]) < 0 && errno != EEXIST)
			die(links[i][1]);
	make_dirs("/.root/run/cordon/cache");
	chmod("/.root/run/cordon/cache", 01777);
	make_dirs("/.root/run/lock");
}

static void mount_share(const char *tag, const char *how, const char *path)
{
	char target[4200];

	snprintf(target, sizeof(target), "/.root%s", path);
	make_dirs(target);
	must_mount(tag, target, "virtiofs",
		   MS_NOSUID | MS_NODEV | (strcmp(how, "ro") == 0 ? MS_RDONLY : 0), NULL);
}

/* Mounts the guest's tree. Returns whether it has a network device. */
static bool mount_tree(void)
{
	size_t at = 0;
	const char *root = next(&at), *disk = next(&at), *size = next(&at), *host = next(&at);
	const char *net = next(&at);

	mount_upper(disk, size);
	mount_root(root);
	mount_own();
	while (at < conf_len) {
		const char *tag = next(&at), *how = next(&at);

		mount_share(tag, how, next(&at));
	}
	if (sethostname(host, strlen(host)) < 0)
		die("set the host name");
	return *net;
}

static void enter_tree(void)
{
	if (chdir("/.root") < 0 || mount(".", "/", NULL, MS_MOVE, NULL) < 0 || chroot(".") < 0 ||
	    chdir("/") < 0)
		die("enter the guest's tree");
}

/* ---- the whole boot -------------------------------------------------------------------------- */

void set_number(const char *path, const char *value)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);

	if (fd < 0)
		return; /* the kernel has no such file */
	if (write(fd, value, strlen(value)) < 0)
		console_say("cordon: %s: %s", path, strerror(errno));
	close(fd);
}

void boot(int *ret_control, int *ret_tty)
{
	const struct rlimit files = {1024, 524288}, core = {0, RLIM_INFINITY};
	bool has_net;

	umask(022);
	mkdir("/proc", 0755);
	mkdir("/sys", 0755);
	mkdir("/dev", 0755);
	if (mount("proc", "/proc", "proc", 0, NULL) < 0 ||
	    mount("sys", "/sys", "sysfs", 0, NULL) < 0 ||
	    (mount("dev", "/dev", "devtmpfs", 0, NULL) < 0 && errno != EBUSY))
		die("mount /proc, /sys and /dev");
	load_all();
	*ret_control = wait_port("control");
	*ret_tty = wait_port("tty");
	read_conf();
	has_net = mount_tree();
	/* A process that waits for the user's answer is not hung. */
	set_number("/proc/sys/kernel/hung_task_timeout_secs", "0");
	enter_tree();
	network_up(has_net);
	setrlimit(RLIMIT_NOFILE, &files);
	setrlimit(RLIMIT_CORE, &core);
}
