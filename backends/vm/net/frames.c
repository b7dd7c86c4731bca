/* frames - the process between the guest's network device and the network gate. */
/* SPDX-License-Identifier: MIT */
#include "backends/vm/net/frames.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "backends/linux/native_priv.h"
#include "backends/linux/net/guest_note.h"
#include "backends/linux/net/net_priv.h"
#include "core/net/notes.h"
#include "backends/linux/sandbox/landlock.h"
#include "backends/vm/net/syn_gate.h"
#include "core/base/clock.h"
#include "core/base/io.h"
#include "core/base/log.h"
#include "core/os/signals.h"

#define LENGTH	  4		       /* the frame's length, before the frame */
#define SENT_MAX  69632		       /* the longest frame that QEMU can send */
#define IN_SIZE	  (256 << 10)	       /* room for several */
#define OUT_SIZE  (512 << 10)	       /* to the guest; further packets wait in the device */
#define OUT_LEAST (LENGTH + FRAME_MAX) /* room for one frame */
#define AT_ONCE	  64		       /* packets to the guest per turn of the loop */
#define TELL_US	  1000000

static struct {
	int net, keeper, tun;
	struct syn_gate *gate;
	int64_t now, told_at;
	uint64_t dropped, told; /* frames */
	size_t in_len, out_at, out_len;
	uint8_t in[IN_SIZE], out[OUT_SIZE];
} self;

/* ---- to the guest ---------------------------------------------------------------------------- */

static void flush(void)
{
	while (self.out_at < self.out_len) {
		ssize_t n = send(self.net, self.out + self.out_at, self.out_len - self.out_at,
				 MSG_NOSIGNAL | MSG_DONTWAIT);

		if (n < 0 && errno == EAGAIN)
			return;
		if (n < 0 && errno != EINTR)
			break; /* QEMU has ended; the keeper detects that */
		if (n > 0)
			self.out_at += (size_t)n;
	}
	self.out_at = self.out_len = 0;
}

/* Returns where to put the next frame, or NULL if it has to be dropped. */
static uint8_t *room(void)
{
	return OUT_SIZE - self.out_len >= OUT_LEAST ? self.out + self.out_len + LENGTH : NULL;
}

/* Adds the frame in room(), which has this length. */
static void add_frame(size_t len)
{
	uint8_t *p = self.out + self.out_len;

	p[0] = p[1] = 0;
	if (len > UINT16_MAX)
		p[1] = 1;
	p[2] = (uint8_t)(len >> 8);
	p[3] = (uint8_t)len;
	self.out_len += LENGTH + len;
}

static void take_packets(void)
{
	for (int i = 0; i < AT_ONCE; i++) {
		uint8_t *frame = room();
		ssize_t n = frame ? read(self.tun, frame + FRAME_HEAD, FRAME_MAX - FRAME_HEAD) : -1;

		if (n <= 0)
			break;
		if (!frame_is_for_guest(frame + FRAME_HEAD, (size_t)n))
			continue;
		frame_head(frame, frame + FRAME_HEAD);
		add_frame(FRAME_HEAD + (size_t)n);
	}
	flush();
}

/* ---- from the guest -------------------------------------------------------------------------- */

static bool tell(const struct guest_note *note)
{
	return send(self.keeper, note, sizeof(*note), MSG_NOSIGNAL | MSG_DONTWAIT) ==
	       (ssize_t)sizeof(*note);
}

static void pass(const uint8_t *packet, size_t len)
{
	/* The kernel drops damaged packets. A packet that cannot be written is lost. */
	if (write(self.tun, packet, len) < 0)
		return;
}

static void open_connection(const struct frame *f)
{
	struct guest_note note = {.what = GUEST_SYN, .port = f->port, .to = f->to};
	struct guest_note gone = {.what = GUEST_GONE};

	switch (syn_gate_take(self.gate, f, self.now, &note.id, &gone.id)) {
	case SYN_ASK:
		if (gone.id)
			(void)tell(&gone); /* if this fails, the question stays open */
		if (!tell(&note))
			syn_gate_forget(self.gate, note.id);
		return;
	case SYN_PASS:
		pass(f->packet, f->len);
		return;
	case SYN_DROP:
		return;
	}
}

static void take_frame(const uint8_t *bytes, size_t len)
{
	struct frame f;

	switch (frame_read(&f, bytes, len)) {
	case FRAME_PACKET:
		pass(f.packet, f.len);
		return;
	case FRAME_OPENS:
		open_connection(&f);
		return;
	case FRAME_DROPPED:
		self.dropped++;
		return;
	}
}

static void take_frames(void)
{
	size_t at = 0;
	ssize_t n = recv(self.net, self.in + self.in_len, IN_SIZE - self.in_len, MSG_DONTWAIT);

	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (n <= 0) { /* QEMU has ended; the keeper will end this process */
		self.net = -1;
		return;
	}
	self.in_len += (size_t)n;
	while (self.in_len - at >= LENGTH) {
		const uint8_t *p = self.in + at;
		size_t len = (size_t)p[0] << 24 | (size_t)p[1] << 16 | (size_t)p[2] << 8 | p[3];

		if (len > SENT_MAX) /* the start of the next frame is unknown */
			_exit(1);
		if (self.in_len - at < LENGTH + len)
			break;
		take_frame(p + LENGTH, len);
		at += LENGTH + len;
	}
	memmove(self.in, self.in + at, self.in_len - at);
	self.in_len -= at;
}

/* ---- messages of the keeper ------------------------------------------------------------------ */

static void refuse(const uint8_t *packet, size_t len)
{
	uint8_t *frame = room();
	size_t n = frame ? frame_reset(frame, packet, len) : 0;

	if (n)
		add_frame(n);
	flush();
}

static void hear(const struct guest_note *note)
{
	size_t len = 0;
	const uint8_t *packet;

	if (note->what != GUEST_PASS && note->what != GUEST_REFUSE)
		return;
	packet = syn_gate_decide(self.gate, note->id, note->what == GUEST_PASS, &len);
	if (packet && note->what == GUEST_PASS)
		pass(packet, len);
	else if (packet)
		refuse(packet, len);
}

static void take_notes(void)
{
	struct guest_note note;
	int got;

	while ((got = notes_take(self.keeper, &note, sizeof(note))) > 0)
		hear(&note);
	if (got < 0)
		_exit(0);
}

static void tick(void)
{
	struct guest_note gone = {.what = GUEST_GONE};
	const struct guest_note dropped = {.what = GUEST_DROPPED, .n = self.dropped};

	while ((gone.id = syn_gate_gone(self.gate, self.now)))
		(void)tell(&gone);
	if (self.dropped == self.told || self.now < self.told_at + TELL_US)
		return;
	self.told_at = self.now;
	if (tell(&dropped))
		self.told = self.dropped;
}

/* ---- main loop ------------------------------------------------------------------------------- */

static int timeout_ms(void)
{
	int64_t next = syn_gate_next(self.gate), left;

	if (self.dropped != self.told)
		next = next ? MIN(next, self.told_at + TELL_US) : self.told_at + TELL_US;
	left = next - self.now;
	return !next ? -1 : left <= 0 ? 0 : (int)MIN(left / 1000 + 1, (int64_t)60000);
}

static NORETURN void loop(void)
{
	for (;;) {
		bool full = self.out_at < self.out_len;
		struct pollfd p[] = {
			{.fd = self.net, .events = (short)(POLLIN | (full ? POLLOUT : 0))},
			{.fd = full ? -1 : self.tun, .events = POLLIN},
			{.fd = self.keeper, .events = POLLIN},
		};

		if (poll(p, ARRAY_LEN(p), timeout_ms()) < 0)
			continue;
		self.now = clock_mono_us();
		if (p[2].revents)
			take_notes();
		if (p[0].revents & POLLOUT)
			flush();
		if (p[0].revents & (POLLIN | POLLHUP | POLLERR))
			take_frames();
		if (p[1].revents & (POLLERR | POLLHUP | POLLNVAL))
			_exit(1); /* the device is gone */
		if (p[1].revents)
			take_packets();
		tick();
	}
}

/* Moves the two sockets to descriptors 0 and 1, and closes all others of the keeper. */
static void take_sockets(const struct frames_spec *spec)
{
	int net = fcntl(spec->net, F_DUPFD_CLOEXEC, 3);
	int keeper = fcntl(spec->keeper, F_DUPFD_CLOEXEC, 3);
	AUTO_CLOSE int null = open("/dev/null", O_RDWR | O_CLOEXEC);

	if (net < 0 || keeper < 0 || null < 0 || dup2(net, 0) < 0 || dup2(keeper, 1) < 0 ||
	    dup2(null, 2) < 0)
		_exit(1);
	null = -1;
	close_range(3, ~0u, 0);
	log_open(-1, LOG_ERROR, NULL); /* the log's number may now be another file's */
	self.net = 0;
	self.keeper = 1;
}

static void hand_over(int code, const int fds[2 + INSIDE_SOCKETS])
{
	const struct frames_hello hello = {.code = code};

	if (io_send_fd(self.keeper, &hello, sizeof(hello), -1) < 0 || code < 0)
		_exit(1);
	for (int32_t i = 0; i < 2 + INSIDE_SOCKETS; i++)
		if (io_send_fd(self.keeper, &i, sizeof(i), fds[i]) < 0)
			_exit(1);
}

static int confine(void)
{
	struct landlock_spec nowhere = {0};
	struct err err = {0};
	int r = confine_drop_all(&err);

	if (r == 0 && landlock_abi() >= LANDLOCK_ABI_NEEDED)
		r = landlock_restrict(&nowhere, &err);
	prctl(PR_SET_DUMPABLE, 0);
	prctl(PR_SET_PDEATHSIG, SIGKILL); /* a change of credentials clears it */
	return r < 0 ? r : frames_filter(&err);
}

NORETURN void frames_run(const struct frames_spec *spec)
{
	int fds[2 + INSIDE_SOCKETS];

	prctl(PR_SET_NAME, "cordon-frames");
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	os_signals_usual();
	/* If the parent died before prctl(), the closed socket ends the loop. */
	take_sockets(spec);
	self.tun = router_prepare_guest(fds + 2);
	fds[0] = open("/proc/self/ns/user", O_RDONLY | O_CLOEXEC);
	fds[1] = open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC);
	hand_over(self.tun, fds);
	for (size_t i = 0; i < ARRAY_LEN(fds); i++)
		util_close_fd(&fds[i]);
	self.gate = syn_gate_new();
	if (confine() < 0)
		_exit(1);
	loop();
}
