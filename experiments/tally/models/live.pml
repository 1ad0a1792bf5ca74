/*
 * Does every message that a tally gateway holds become verified (docs/specification.md)? Both ends for ever, below one root: in
 * each round the sensor seals a message and the gateway speaks; at most LOSE frames of a kind are lost in a row, and
 * the attacker sends NOISE bad frames and guesses LUCK short tags in all. Counters grow without end, so all is told from
 * the sensor's next counter on: place p of a mask is the counter `next + AHEAD - p`, and every message moves all by one.
 * The sensor's key is the gateway's, that of the report's next generation, or another.
 *
 * record.pml has replays, reordering and delays. Claimed: without forgeries each message held becomes verified; with
 * them it is settled, and records open again.
 */
#define REPORT_EVERY 2
#define BUDGET       2
#define SUSPICION    2
#define ACCEPTANCES  2
#ifndef REPORTABLE
#define REPORTABLE   6
#endif
#define RING         (REPORTABLE + 2)
#define WINDOW       RING
#define COVERED      4
#define AHEAD        1
#define PLACES       (RING + 4)
#ifndef LOSE
#define LOSE         1
#endif
#ifndef NOISE
#define NOISE        2
#endif
#ifndef LUCK
#define LUCK         0
#endif

#define bit(p) (1 << (p))
#define NEWEST (AHEAD + 1)

/* The sensor's key beside the gateway's. */
#define CURRENT 0
#define COMING  1
#define OTHER   2

/* The one message that is watched. */
#define NONE       0
#define UNREPORTED 1
#define FROZEN     2
#define ATTESTED   3
#define VERIFIED   4
#define LOST       5

byte sensor_key, rescue_key, since_rescue;
bool sensor_whole = true, rescue_begun, rescue_due;

int unreported, listed, forged, there;
byte accepted, due_after = 1, failures, in_row;
bool frozen, forked, confirmed, gateway_whole = true;

byte watched, place, acceptances;
byte lost_records, lost_rescues, lost_reports, lost_requests, noise, luck;
bool opened;

/* Of one step, zero between steps; hidden where no step but a d_step has them. */
hidden byte base, first, ok;
byte at;
bool promoted, whole;

#define held (watched != NONE)
#define verified (watched == VERIFIED)
#define settled (watched == VERIFIED || watched == LOST)

#ifdef VERIFIES
ltl each_message_held_becomes_verified { [] (held -> <> verified) }
#else
ltl each_message_held_is_settled_and_records_open_again { ([] (held -> <> settled)) && [] <> opened }
#endif

#define spent (failures >= BUDGET)
#define refuses_short (spent || gateway_whole && !frozen)

inline fail(is_short) {
    failures = (is_short && failures < BUDGET -> failures + 1 : failures);
    in_row = (in_row < SUSPICION -> in_row + 1 : in_row)
}

/* The place of the highest counter that was there; the one expected stands before it. */
inline find_first() {
    first = 0;
    do
    :: first < PLACES && !(there & bit(first)) -> first++
    :: else -> break
    od
}
#define too_old(p) ((p) + 1 > first + REPORTABLE)
#define is_new(p) (!(there & bit(p)) && (p) + 1 <= first + WINDOW)

inline lift() {
    if
    :: watched == ATTESTED && (whole || acceptances + 1 >= ACCEPTANCES) -> watched = VERIFIED; acceptances = 0; place = 0
    :: watched == ATTESTED && !whole && acceptances + 1 < ACCEPTANCES -> acceptances++
    :: else
    fi
}

/* A record opens, with the keys in use or with those of the report's next generation. */
inline accept(p, is_forged) {
    if
    :: promoted ->
        sensor_key = (sensor_key == COMING -> CURRENT : OTHER);
        rescue_key = (rescue_key == COMING -> CURRENT : OTHER);
        frozen = false; forked = false; listed = 0; failures = 0; gateway_whole = false;
#ifdef NOTHING_CARRIED
        unreported = 0; forged = 0;
#endif
        watched = (watched == FROZEN -> ATTESTED : watched)
    :: else
    fi;
    there = there | bit(p);
    accepted = (accepted < REPORT_EVERY -> accepted + 1 : accepted);
    in_row = 0;
    lift();
    confirmed = confirmed || whole;
    if
    :: !whole -> unreported = unreported | bit(p); forged = (is_forged -> forged | bit(p) : forged)
    :: else
    fi
}

inline hear_record() {
    find_first();
    promoted = frozen && sensor_key == COMING;
    if
    :: !whole && refuses_short -> fail(false)
    :: !(!whole && refuses_short) && !is_new(NEWEST)
    :: !(!whole && refuses_short) && is_new(NEWEST) ->
        if
        :: promoted || sensor_key == CURRENT && (whole || !gateway_whole) ->
            accept(NEWEST, false);
            opened = true
        :: else -> fail(!whole)
        fi
    fi
}

inline freeze() {
    find_first();
    base = PLACES;
    at = PLACES;
    listed = 0;
    do
    :: at == 0 -> break
    :: else ->
        at--;
        if
        :: (unreported & bit(at)) && too_old(at) -> unreported = unreported & ~bit(at)
        :: (unreported & bit(at)) && !too_old(at) ->
            base = (base == PLACES -> at : base);
            if
            :: at + COVERED > base -> listed = listed | bit(at); unreported = unreported & ~bit(at)
            :: else
            fi
        :: else
        fi
    od;
    if
    :: watched == UNREPORTED && (listed & bit(place)) -> watched = FROZEN
    :: watched == UNREPORTED && !(listed & bit(place)) && !(unreported & bit(place)) -> watched = LOST
    :: else
    fi;
    forked = ((listed & forged) != 0);
    forged = forged & unreported;
    frozen = true; accepted = 0; due_after = REPORT_EVERY
}

inline begin_rescue() {
    rescue_begun = true; rescue_due = true; since_rescue = 0; sensor_whole = true;
    rescue_key = sensor_key; sensor_key = OTHER
}

/* The report reaches the sensor; it opens only with the gateway's key. */
inline hear_report() {
    if
    :: sensor_key == CURRENT ->
        if
        /* Counters never used, and counters whose whole tags are gone. */
        :: (listed & (bit(NEWEST) - 1)) || (listed >> (NEWEST + RING)) -> begin_rescue()
        :: else ->
            sensor_key = (forked -> OTHER : COMING);
            sensor_whole = spent;
            rescue_begun = false; rescue_due = false; rescue_key = OTHER; since_rescue = 0
        fi
    :: else
    fi
}

/* A request reaches the sensor: `rescue_begun` holds until the gateway has heard that rescue, so a request is for it. */
inline hear_request() {
    if
    :: rescue_begun -> rescue_due = true
    :: else -> begin_rescue()
    fi
}

inline hear_rescue() {
    promoted = frozen && rescue_key == COMING;
    ok = promoted || rescue_key == CURRENT;
    if
    :: watched == ATTESTED && ok || watched == FROZEN && promoted -> watched = VERIFIED
    :: (watched == UNREPORTED || watched == FROZEN && !promoted) && ok && place < NEWEST + since_rescue + REPORTABLE ->
        watched = UNREPORTED
    :: !ok && (watched == UNREPORTED || watched == FROZEN || watched == ATTESTED) -> watched = LOST
    :: else -> watched = ((watched == UNREPORTED || watched == FROZEN) -> LOST : watched)
    fi;
    if
    :: watched == VERIFIED || watched == LOST -> acceptances = 0; place = 0
    :: else
    fi;
    unreported = (ok -> (promoted -> unreported : unreported | listed) : 0);
    /* Refuted, and too old. */
    unreported = unreported & ~(bit(NEWEST + since_rescue) - 1) & (bit(NEWEST + since_rescue + REPORTABLE) - 1);
    forged = forged & unreported;
    /* The counters before the rescue count as having been there, those from it on as never there. */
    there = (bit(PLACES) - 1) & ~(bit(NEWEST + since_rescue) - 1);
    sensor_key = CURRENT; rescue_key = OTHER; rescue_begun = false; since_rescue = 0;
    frozen = false; forked = false; listed = 0; confirmed = true; gateway_whole = true;
    failures = 0; in_row = 0; accepted = 0; due_after = 1
}

inline move() {
    unreported = (unreported << 1) & (bit(PLACES) - 1);
    listed = (listed << 1) & (bit(PLACES) - 1);
    forged = (forged << 1) & (bit(PLACES) - 1);
    there = (there << 1) & (bit(PLACES) - 1);
    since_rescue = (rescue_begun && since_rescue < PLACES - NEWEST - REPORTABLE -> since_rescue + 1 : since_rescue);
    place = (watched && !settled && place < PLACES -> place + 1 : place)
}

inline clear() { at = 0; base = 0; first = 0; promoted = 0; whole = 0; ok = 0 }

active proctype link() {
    do
    :: true ->
        /* The attacker. */
        do
        :: d_step { noise < NOISE && !refuses_short -> noise++; fail(true) }
        :: d_step { noise < NOISE -> noise++; fail(false) }
        :: atomic { luck < LUCK && !refuses_short ->
            if
            :: frozen -> promoted = true
            :: !gateway_whole -> promoted = false
            fi;
            at = 0;
            do
            :: at < NEWEST + 1 -> at++
            :: break
            od;
            d_step {
                luck++; base = at; find_first();
                if
                :: is_new(base) && base + AHEAD + 1 >= first -> accept(base, true)
                :: else
                fi;
                clear() } }
        :: break
        od;
        /* The rescue record. */
        if
        :: rescue_due ->
            rescue_due = false;
            if
            :: d_step { lost_rescues < LOSE -> lost_rescues++ }
            :: d_step { lost_rescues = 0; hear_rescue(); clear() }
            fi
        :: !rescue_due
        fi;
        /* A message. */
        atomic {
            if
            :: whole = true
            :: !sensor_whole -> whole = false
            fi;
            if
            :: d_step { lost_records < LOSE -> lost_records++; opened = false; move(); clear() }
            :: d_step { lost_records = 0; opened = false; move(); hear_record() }
                if
                :: opened && !whole && watched == NONE -> watched = UNREPORTED; place = NEWEST
                :: true
                fi;
                d_step { clear() }
            fi
        }
        /* The gateway's turn. */
        if
        :: in_row >= SUSPICION && confirmed ->
#ifdef NO_REQUEST
            skip
#else
            if
            :: d_step { lost_requests < LOSE -> lost_requests++ }
            :: d_step { lost_requests = 0; hear_request() }
            fi
#endif
        :: d_step { !(in_row >= SUSPICION && confirmed) ->
            promoted = frozen;
            if
            :: !frozen && (accepted >= due_after || spent && accepted > 0) -> freeze()
            :: else
            fi;
#ifdef SAID_ONCE
            at = (frozen && !promoted);
#else
            at = frozen;
#endif
            promoted = false; base = 0; first = 0 }
            if
            :: !at
            :: d_step { at && lost_reports < LOSE -> lost_reports++ }
            :: d_step { at -> lost_reports = 0; hear_report() }
            fi;
            at = 0
        fi
    od
}
