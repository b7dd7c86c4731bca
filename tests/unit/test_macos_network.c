/* test_macos_network - the network of a session under Seatbelt: its proxy, its ports, its
 * address. */
/* SPDX-License-Identifier: MIT */
#include <netinet/in.h>
#include <sys/socket.h>

#include "backends/macos/alias/ensure.h"
#include "core/os/file.h"
#include "tests/support/fake_seatbelt.h"

/* ---- the network ----------------------------------------------------------------------------- */

/* Sends "ping" to a host through the proxy named by its environment; its answer is in `out`. */
static char *say_ping(const struct fixture *f, const char *host, int port)
{
	AUTO_FREE char *text = xasprintf(
		"#!/bin/bash\ncred=${HTTPS_PROXY#http://} at=${HTTPS_PROXY##*@}; cred=${cred%%@*}\n"
		"exec 3<>/dev/tcp/${at%%:*}/${at#*:}\n"
		"printf 'CONNECT %s:%d HTTP/1.1\\r\\nProxy-Authorization: Basic "
		"%%s\\r\\n\\r\\nping' "
		"\"$(printf %%s \"$cred\" | base64 -w0)\" >&3\ncat <&3 >%s/out\n",
		host, port, f->base);

	return write_script(f, "ping", text);
}

static int listen_here(int *ret_port)
{
	struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t len = sizeof(at);
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	assert_int_equal(bind(fd, (struct sockaddr *)&at, len), 0);
	assert_int_equal(listen(fd, 1), 0);
	assert_int_equal(getsockname(fd, (struct sockaddr *)&at, &len), 0);
	*ret_port = ntohs(at.sin_port);
	return fd;
}

static void run_ping(struct fixture *f, const char *host, int port, int listener)
{
	AUTO_FREE char *script = say_ping(f, host, port);
	const char *const argv[] = {script, NULL};
	struct sandbox *sb;
	char got[5] = "";
	int fd = -1;

	f->spec.ask_network = true;
	sb = begin(f, argv);
	assert_non_null(f->keeper.door);
	while (!f->keeper.exited) {
		struct pollfd p = {.fd = listener, .events = POLLIN};

		turn(&f->keeper);
		if (f->keeper.held) {
			uint64_t id = f->keeper.held;

			f->keeper.held = 0;
			f->keeper.door->ops->answered(f->keeper.door, id, VERDICT_ALLOW);
		}
		if (fd < 0 && poll(&p, 1, 0) == 1) {
			fd = accept(listener, NULL, NULL);
			assert_int_equal(recv(fd, got, 4, MSG_WAITALL), 4);
			assert_string_equal(got, "ping");
			assert_int_equal(send(fd, "pong", 4, MSG_NOSIGNAL), 4);
			close(fd);
		}
	}
	seatbelt_stop(sb);
	f->keeper.door->ops->close(f->keeper.door); /* as the keeper does */
	f->keeper.door = NULL;
	f->keeper.exited = false;
}

static char *what_it_heard(const struct fixture *f)
{
	AUTO_FREE char *path = path_join(f->base, "out");
	char *text = NULL;
	size_t len = 0;

	assert_int_equal(io_read_file(AT_FDCWD, path, 1u << 16, &text, &len), 0);
	return text;
}

/* The agent's only way out: checked by name, asked about, connected, and reported. */
TEST(the_network)
{
	struct fixture *f = *state;
	AUTO_FREE char *heard = NULL, *denied = NULL, *strange = NULL, *flows = NULL;
	int port, listener = listen_here(&port);

	run_ping(f, "localhost", port, listener);
	heard = what_it_heard(f);
	assert_true(str_starts(heard, "HTTP/1.1 200 "));
	assert_non_null(strstr(heard, "\r\n\r\npong"));
	flows = xasprintf("asked localhost:%d\ngranted localhost:%d\nopen localhost:%d\n", port,
			  port, port);
	assert_true(str_starts(f->keeper.flows, flows));
	run_ping(f, "nowhere.example", port, listener);
	denied = what_it_heard(f);
	assert_true(str_starts(denied, "HTTP/1.1 403 "));
	assert_non_null(strstr(denied, "nowhere.example"));
	/* A process that knows the secret but is not the session's. */
	f->strangers = true;
	run_ping(f, "localhost", port, listener);
	strange = what_it_heard(f);
	assert_true(str_starts(strange, "HTTP/1.1 403 "));
	assert_non_null(strstr(strange, "programs inside the sandbox alone"));
	close(listener);
}

/* Returns the built preload library of this system. */
static char *library(void)
{
	static const char *const places[] = {"../../interpose.so", "../../../release/interpose.so"};
	AUTO_FREE char *self = os_self_copy();
	char *found = NULL;

	*strrchr(self, '/') = '\0';
	for (size_t i = 0; i < ARRAY_LEN(places) && !found; i++) {
		AUTO_FREE char *path = path_join(self, places[i]);

		found = realpath(path, NULL);
	}
	assert_non_null(found);
	return found;
}

/* Returns the first of so many unused ports: other tests run at the same time. */
static uint16_t free_ports(unsigned count)
{
	unsigned base = 20000 + (unsigned)getpid() * 37 % 10000;

	for (unsigned n = 0; n < count;) {
		const struct sockaddr_in at = {.sin_family = AF_INET,
					       .sin_port = htons((uint16_t)(base + n))};
		int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
		bool free = bind(fd, (const struct sockaddr *)&at, sizeof(at)) == 0;
		close(fd);
		base += free ? 0 : n + 1;
		n = free ? n + 1 : 0;
	}
	return (uint16_t)base;
}

/* Returns what `calls` print in Python, in a session with a window of this many ports. */
static char *python(struct fixture *f, enum window_strategy strategy, uint16_t count,
		    const char *calls)
{
	AUTO_FREE char *interpose = library();
	AUTO_FREE char *text =
		xasprintf("#!/bin/sh\nexport LD_PRELOAD=$DYLD_INSERT_LIBRARIES\nexec python3 - "
			  ">%s/out <<'P'\n"
			  "import errno, os, socket\nkeep = []\n"
			  "def at(port):\n"
			  "    s = socket.socket()\n"
			  "    try: s.bind(('127.0.0.1', port))\n"
			  "    except OSError as e: return errno.errorcode[e.errno]\n"
			  "    s.listen(); keep.append(s); c = "
			  "socket.create_connection(('127.0.0.1', port))\n"
			  "    rows = [l.split() for l in open('/proc/net/tcp')]\n"
			  "    inode = os.readlink('/proc/self/fd/%%d' %% s.fileno())[8:-1]\n"
			  "    real = [r[1].split(':') for r in rows if r[9] == inode][0]\n"
			  "    return s.getsockname()[1], int(real[1], 16), real[0]\n%s\nP\n",
			  f->base, calls);
	AUTO_FREE char *script = write_script(f, "python", text);
	const char *const argv[] = {script, NULL};
	struct err err = {0};
	struct sandbox *sb;
	int lock = -1;

	f->spec.window = (struct net_window){.on = true,
					     .strategy = strategy,
					     .base = free_ports(count),
					     .count = count,
					     .device = net_addr_v4(INADDR_LOOPBACK)};
	assert_int_equal(window_reserve(&f->spec.window, f->base, &lock, &err), 0);
	f->host.interpose = interpose;
	sb = begin(f, argv);
	while (!f->keeper.exited)
		turn(&f->keeper);
	seatbelt_stop(sb);
	close(lock);
	return what_it_heard(f);
}

TEST(ports_of_its_own)
{
	struct fixture *f = *state;
	AUTO_FREE char *heard = python(f, WINDOW_PORT, 2,
				       "print(at(3000), at(3000), at(3001), at(3002))\n"
				       "print(at(65535), at(1))");
	unsigned base = f->spec.window.base;
	AUTO_FREE char *want = xasprintf("(3000, %u, '0100007F') EADDRINUSE (3001, %u, '0100007F') "
					 "EADDRINUSE\nEADDRINUSE EADDRINUSE\n",
					 base + 1, base);
	AUTO_FREE char *flows = xasprintf("bind localhost:3000 is localhost:%u\n"
					  "bind localhost:3001 is localhost:%u\n",
					  base + 1, base);

	assert_string_equal(heard, want);
	assert_string_equal(f->keeper.flows, flows);
}

/* A manipulated file in the session's directory gives no ports; the keeper continues. */
TEST(ports_that_were_fiddled_with)
{
	struct fixture *f = *state;
	AUTO_FREE char *heard = python(
		f, WINDOW_PORT, 4,
		"import fcntl, struct, time\nmap = os.environ['CORDON_PORT_MAP']\n"
		"sock = os.environ['CORDON_PORT_SOCKET']\n"
		"def ask(data):\n"
		"    c = socket.socket(socket.AF_UNIX); c.connect(sock); c.sendall(data)\n"
		"    c.shutdown(socket.SHUT_WR); return c.recv(9)\n"
		"print(ask(b''), ask(b'x'), ask(struct.pack('H', 0)) == bytes([errno.EINVAL]))\n"
		"idle = [socket.socket(socket.AF_UNIX) for i in range(200)]\n"
		"for c in idle: c.connect(sock)\n"
		"print(ask(struct.pack('H', 3000)), at(3000)[0])\n"
		"f = os.open(map, os.O_RDWR); os.pwrite(f, struct.pack('I', 7), 12)\n"
		"print(at(3000), at(3001), ask(struct.pack('H', 3001)) == bytes([errno.EIO]))\n"
		"os.unlink(map); os.unlink(sock); print(at(3000), at(3001))");

	assert_string_equal(heard,
			    "b'' b'' True\nb'\\x00' 3000\nEACCES EACCES True\nEACCES EACCES\n");
}

TEST(a_device_of_its_own)
{
	struct fixture *f = *state;
	AUTO_FREE char *none = NULL, *heard = NULL;
	static const char *const env[] = {"PATH=/usr/bin:/bin", "CORDON_SESSION=test",
					  "LISTENING_LOOPBACK_DEVICE=127.0.0.77", NULL};

	f->spec.env = env; /* as core/session sets it */
	heard = python(
		f, WINDOW_DEVICE, 2,
		"s = socket.socket(); s.bind(('127.0.0.1', 0)); p = s.getsockname()[1]; s.close()\n"
		"a = at(p); print(a[0] == p == a[1], a[2])");
	assert_string_equal(heard, "True 4D00007F\n");
	f->keeper.exited = false;
	none = python(f, WINDOW_FAIL, 2, "print(os.environ.get('LD_PRELOAD'))");
	assert_string_equal(none, "\n"); /* the script's own, empty */
}

/* The helper is run once, with the address only, and its answer is checked. */
TEST(an_address_that_is_not_there)
{
	static const char *const none[] = {"true", NULL};
	static const struct {
		const char *does, *words;
	} known[] = {
		{"exit 0", "does not add it"},
		{"exit 3", "is not root's and setuid"},
		{"kill -9 $$", "does not add it"},
	};
	struct fixture *f = *state;
	AUTO_FREE char *log_path = path_join(f->base, "ran"), *log = NULL;
	struct net_addr device = net_addr_v4(0xc0000201); /* 192.0.2.1 */
	struct err err = {0};
	size_t len;

	f->spec.argv = none;
	f->spec.window = (struct net_window){
		.on = true, .base = 61000, .count = 2, .device = device, .own_device = true};
	for (size_t i = 0; i < ARRAY_LEN(known); i++) {
		AUTO_FREE char *text =
			xasprintf("#!/bin/sh\necho \"$# $1 ${HOME-none}\" >>%s\n%s\n", log_path,
				  known[i].does);
		AUTO_FREE char *helper = write_script(f, "helper", text);
		struct sandbox *sb = NULL;
		int status;

		f->host.loopback = helper;
		assert_int_equal(seatbelt_launch(&f->host, &sb, &f->door, &f->spec, &f->keeper,
						 &status, &err),
				 -EADDRNOTAVAIL);
		assert_int_equal(status, 125);
		assert_non_null(strstr(err.text, known[i].words));
		assert_non_null(strstr(err.text, "sudo ifconfig lo0 alias 192.0.2.1"));
	}
	assert_int_equal(io_read_file(AT_FDCWD, log_path, 4096, &log, &len), 0);
	assert_string_equal(log, "1 192.0.2.1 none\n1 192.0.2.1 none\n1 192.0.2.1 none\n");
	device = net_addr_v4(0x7f00004d);
	assert_int_equal(alias_ensure(&device, "/nonexistent", &err), 0);
}

int main(int argc, char **argv)
{
	helper_fake(argc, argv, inside_nobody);
	return run_all(setup, teardown, NULL, NULL);
}
