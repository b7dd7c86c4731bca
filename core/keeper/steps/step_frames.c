/* step_frames - tells cordon that a step begins, has ended, or that a command changed nothing. */
/* SPDX-License-Identifier: MIT */
#include "core/keeper/steps/step_frames.h"

#include "core/base/clock.h"
#include "core/keeper/channel.h"
#include "core/keeper/guest_facts.h"
#include "core/keeper/loop.h"
#include "core/keeper/state.h"
#include "core/keeper/steps/command.h"

void step_frames_begin(struct keeper *k, struct command *c)
{
	size_t mark = wire_begin(&k->out, WIRE_STEP_BEGIN);

	wire_i64(&k->out, step_id(c->step));
	wire_u8(&k->out, (uint8_t)c->kind);
	wire_i64(&k->out, c->began_us);
	wire_str(&k->out, c->label.data, c->label.len);
	wire_end(&k->out, mark);
	c->announced = true;
	c->announce_at = 0;
	keeper_urgent(k);
}

void step_frames_end(struct keeper *k, const struct command *c, const struct step_end *e)
{
	size_t mark = wire_begin(&k->out, WIRE_STEP_END);

	wire_i64(&k->out, e->id);
	wire_u8(&k->out, e->kept);
	wire_u32(&k->out, (uint32_t)c->exit_status);
	wire_i64(&k->out, clock_wall_us());
	wire_u64(&k->out, e->paths);
	wire_cstr(&k->out, e->why);
	wire_u8(&k->out, (e->elsewhere ? 1 : 0) | (e->granted ? 2 : 0));
	wire_cstr(&k->out, e->name);
	wire_end(&k->out, mark);
	keeper_urgent(k);
}

void step_frames_ran(struct keeper *k, const struct command *c)
{
	size_t mark;

	if (c->kind != STEP_COMMAND || !c->named || c->whole || c->exit_status < 0)
		return;
	mark = wire_begin(&k->out, WIRE_RAN);
	wire_u32(&k->out, (uint32_t)c->exit_status);
	wire_cstr(&k->out, c->label.data);
	wire_end(&k->out, mark);
}
