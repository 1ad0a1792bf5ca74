/*
 * Records, reports and rescues of tally (docs/specification.md) below one root, against an attacker who owns the radio:
 * any frame that was ever sent arrives any number of times, in any order or never, and bad frames come at any time.
 *
 * Keys are terms: two are equal if they were derived of the same things. A whole tag, a report, a request and a rescue
 * record can't be forged; a short tag can, LUCK times in all, and then the gateway holds another whole tag than the
 * sensor. The lower layer tells kind and counter (no hint). Claimed: a forgery is verified only where at least
 * ACCEPTANCES + 1 short tags were guessed, no counter is released twice, no nonce is used for two texts.
 */

/* Numbers of the link, small so that all its states can be visited; docs/specification.md has those of the default. */
#ifndef MESSAGES
#define MESSAGES 5  /* counters that the sensor uses */
#endif
#define COUNTERS     (MESSAGES + 1)  /* counters that a frame may name */
#define REPORT_EVERY 2
#ifndef BUDGET
#define BUDGET 2  /* failures of a generation */
#endif
#ifndef SUSPICION
#define SUSPICION 2  /* failures in a row */
#endif
#define RING         4  /* whole tags that the sensor keeps */
#define WINDOW       4
#define REPORTABLE   3
#define COVERED      2
#define AHEAD        2
#ifndef RESCUES
#define RESCUES 2
#endif
#define KEYS         12
#ifndef ACCEPTANCES
#define ACCEPTANCES  1
#endif
#ifndef LUCK
#define LUCK         1  /* short tags that are guessed */
#endif
#ifndef REACH
#define REACH        0  /* the event that a run looks for */
#endif

#define NEXT  1
#define AGAIN 2

#define ABSENT     0    /* never there, or settled */
#define UNREPORTED 1
#define FROZEN     2
#define ATTESTED   3

#define bit(n) (1 << (n))
#define reached(event) assert(REACH != event)

/* Keys, by what they were derived of. Key 0 is the first of the root. */
byte keys = 1;
byte key_kind[KEYS], key_parent[KEYS], key_number[KEYS], key_forged[KEYS];

/* What was sent: nobody takes it back. */
byte record_key[MESSAGES], record_whole;
byte report_body[KEYS], report_said[KEYS];      /* by the generation's key; bit 0 report, bit 1 report that asks for whole tags */
byte rescue_key[RESCUES + 1], rescue_next[RESCUES + 1], requests_said;

/* The sensor. */
byte sensor_key, counter, sensor_rescues;
bool sensor_whole = true;

/* The gateway. */
byte gateway_key, report_key, report_list, expected, there, accepted, due_after = 1, failures, in_row, gateway_rescues;
bool frozen, confirmed, gateway_whole = true;
byte standing[COUNTERS], acceptances[COUNTERS], forged;

/* What nobody in the link knows. */
byte luck, released, guessed;

/* Of one step, zero between steps; hidden where no step but a d_step has them. */
hidden byte at, key, list, base, ok, is_forged;
bool promoted;

/* `key`: that of this derivation. */
inline derive(kind, parent, number, forgeries) {
    key = 1;
    do
    :: key < keys && !(key_kind[key] == kind && key_parent[key] == parent && key_number[key] == number
        && key_forged[key] == forgeries) -> key++
    :: else -> break
    od;
    if
    :: key == keys ->
        key_kind[key] = kind; key_parent[key] = parent; key_number[key] = number; key_forged[key] = forgeries;
        keys++
    :: else
    fi
}

inline settle(c) {
    standing[c] = ABSENT; acceptances[c] = 0; forged = forged & ~bit(c)
}

inline begin_rescue() {
    sensor_rescues++;
    rescue_key[sensor_rescues] = sensor_key;
    rescue_next[sensor_rescues] = counter;
    derive(AGAIN, sensor_key, sensor_rescues, 0);
    sensor_key = key;
    sensor_whole = true
}

inline hear_report(asks_whole) {
    list = report_body[sensor_key];
    ok = true;
    at = 0;
    do
    :: at == COUNTERS -> break
    :: else ->
        if
        :: (list & bit(at)) && (at >= counter || counter - at > RING) -> ok = false
        :: else
        fi;
        at++
    od;
    if
    :: ok ->
        derive(NEXT, sensor_key, list, 0);
        sensor_key = key;
        sensor_whole = asks_whole
    :: !ok && sensor_rescues < RESCUES -> begin_rescue()
    :: else
    fi
}

/* Lifts what is attested: by one acceptance, or by all that a whole tag is worth. */
inline lift(whole) {
    at = 0;
    do
    :: at == COUNTERS -> break
    :: else ->
        if
        :: standing[at] == ATTESTED && whole ->
            assert(!(forged & bit(at)));
            settle(at)
        :: standing[at] == ATTESTED && !whole && acceptances[at] + 1 >= ACCEPTANCES ->
            if
            :: forged & bit(at) -> reached(2); assert(luck > ACCEPTANCES)
            :: else -> reached(1)
            fi;
            settle(at)
        :: standing[at] == ATTESTED && !whole && acceptances[at] + 1 < ACCEPTANCES -> acceptances[at]++
        :: else
        fi;
        at++
    od
}

inline accept(c, whole) {
    if
    :: promoted ->
        gateway_key = report_key;
        frozen = false; report_key = 0; report_list = 0; failures = 0; gateway_whole = false;
        at = 0;
        do
        :: at == COUNTERS -> break
        :: standing[at] == FROZEN -> standing[at] = ATTESTED;
#ifdef EARLY
            acceptances[at] = 1;
#endif
            at++
        :: else -> at++
        od
    :: else
    fi;
    assert(!(released & bit(c)));
    released = released | bit(c);
    guessed = (is_forged -> guessed | bit(c) : guessed);
    there = there | bit(c);
    if
    :: c >= expected -> expected = c + 1
    :: else
    fi;
    accepted = (accepted < REPORT_EVERY -> accepted + 1 : accepted);
    in_row = 0;
    lift(false);
    if
    :: whole -> confirmed = true; lift(true)
    :: else ->
        standing[c] = UNREPORTED;
        forged = (is_forged -> forged | bit(c) : forged)
    fi
}

inline fail(is_short) {
    failures = (is_short && failures < BUDGET -> failures + 1 : failures);
    in_row = (in_row < SUSPICION -> in_row + 1 : in_row)
}

#ifdef ANY_COUNTER
#define is_new(c) true
#else
#define is_new(c) (!(there & bit(c)) && expected <= c + WINDOW)
#endif
#define refuses_short (failures >= BUDGET || gateway_whole && !frozen)

inline hear_record(c, whole) {
    if
    :: !whole && refuses_short -> fail(false)
    :: !whole && !refuses_short && c > expected + AHEAD
    :: else ->
        if
        :: !is_new(c)
        :: else ->
            is_forged = false;
            promoted = frozen && record_key[c] == report_key;
            if
            :: promoted || record_key[c] == gateway_key && (whole || !gateway_whole) -> accept(c, whole)
            :: else -> fail(!whole)
            fi
        fi
    fi
}

inline freeze() {
    list = 0;
    base = COUNTERS;
    at = 0;
    do
    :: at == COUNTERS -> break
    :: standing[at] == UNREPORTED && expected > at + REPORTABLE -> reached(7); settle(at); at++
    :: standing[at] == UNREPORTED && expected <= at + REPORTABLE ->
        base = (base == COUNTERS -> at : base);
        if
        :: at < base + COVERED -> list = list | bit(at); standing[at] = FROZEN
        :: else
        fi;
        at++
    :: else -> at++
    od;
#ifdef WITHOUT_TAGS
    derive(NEXT, gateway_key, list, 0);
#else
    derive(NEXT, gateway_key, list, (forged & list));
#endif
    report_key = key; report_list = list; frozen = true; accepted = 0; due_after = REPORT_EVERY
}

inline thaw() {
    at = 0;
    do
    :: at == COUNTERS -> break
    :: standing[at] == FROZEN -> standing[at] = UNREPORTED; at++
    :: else -> at++
    od;
    frozen = false
}

#define spent (failures >= BUDGET)

inline speak() {
    if
    :: in_row >= SUSPICION && confirmed && gateway_rescues < RESCUES ->
        requests_said = requests_said | bit(gateway_rescues + 1)
    :: in_row >= SUSPICION && confirmed && gateway_rescues == RESCUES
    :: else ->
#ifdef THAW
        if
        :: frozen -> thaw(); freeze()
        :: else
        fi;
#endif
        if
        :: !frozen && (accepted >= due_after || spent && accepted > 0) -> freeze()
        :: else
        fi;
        if
        :: frozen ->
            /* The nonce of a report is its kind and generation, under the generation's key. */
#ifdef ONE_NONCE
            assert(!report_said[gateway_key] || report_said[gateway_key] == bit(spent));
#else
            assert(!(report_said[gateway_key] & bit(spent)) || report_body[gateway_key] == report_list);
#endif
            report_body[gateway_key] = report_list;
            report_said[gateway_key] = report_said[gateway_key] | bit(spent)
        :: else
        fi
    fi
}

inline hear_rescue(r) {
    promoted = frozen && rescue_key[r] == report_key;   /* the sensor holds the report's next generation */
#ifdef ANY_CONFIRMATION
    ok = true;
#else
    ok = promoted || rescue_key[r] == gateway_key;
#endif
    at = 0;
    do
    :: at == COUNTERS -> break
    :: else ->
        if
        :: standing[at] == ABSENT
        :: standing[at] && at >= rescue_next[r] -> reached(5); assert(forged & bit(at)); settle(at)
        :: else ->
            if
            :: ok && (standing[at] == ATTESTED || standing[at] == FROZEN && promoted) ->
                reached(3);
                assert(!(forged & bit(at)));
                settle(at)
            :: !ok -> reached(6); settle(at)
            :: ok && standing[at] != ATTESTED && !(standing[at] == FROZEN && promoted) ->
                if
                :: rescue_next[r] > at + REPORTABLE -> settle(at)
                :: else ->
                    if
                    :: standing[at] == FROZEN -> reached(4)
                    :: else
                    fi;
                    standing[at] = UNREPORTED
                fi
            fi
        fi;
        at++
    od;
    derive(AGAIN, rescue_key[r], r, 0);
    gateway_key = key;
    /* Counters from the sensor's on are free again: whatever was released there was guessed. */
    assert(!(released & ~guessed & ~(bit(rescue_next[r]) - 1)));
    expected = rescue_next[r]; there = bit(expected) - 1;
    released = released & there; guessed = guessed & there;
    frozen = false; report_key = 0; report_list = 0; gateway_rescues = r; confirmed = true; gateway_whole = true;
    failures = 0; in_row = 0; accepted = 0; due_after = 1
}

active proctype link() {
    byte c;
    do
    /* The sensor seals a message, with a whole tag where it must or where the application asks for it. */
    :: d_step { counter < MESSAGES ->
        record_key[counter] = sensor_key; record_whole = record_whole | bit(counter); counter++ }
    :: d_step { counter < MESSAGES && !sensor_whole -> record_key[counter] = sensor_key; counter++ }
    /* A record arrives. */
    :: atomic { counter > 0 -> select(c : 0 .. MESSAGES - 1);
        d_step {
            if
            :: c < counter -> hear_record(c, ((record_whole & bit(c)) != 0))
            :: else
            fi;
            c = 0; at = 0; key = 0; list = 0; ok = false; promoted = false; is_forged = false } }
    /* A short tag is guessed, with the keys of the report's next generation or with those in use. */
    :: atomic { luck < LUCK && !refuses_short -> select(c : 0 .. COUNTERS - 1);
        if
        :: frozen -> promoted = true
        :: !gateway_whole -> promoted = false
        fi;
        d_step {
            if
            :: is_new(c) && c <= expected + AHEAD -> luck++; is_forged = true; accept(c, false)
            :: else
            fi;
            c = 0; at = 0; promoted = false; is_forged = false } }
    /* Bad frames: a short tag that is wrong, and any other. */
    :: d_step { !refuses_short && (failures < BUDGET || in_row < SUSPICION) -> fail(true) }
    :: d_step { in_row < SUSPICION -> fail(false) }
    /* The gateway speaks. */
    :: d_step { speak(); at = 0; key = 0; list = 0; base = 0 }
    /* A report arrives; those of other generations don't open. */
    :: d_step { (report_said[sensor_key] & 1) -> hear_report(false); at = 0; key = 0; list = 0; ok = false }
    :: d_step { (report_said[sensor_key] & 2) -> reached(8); hear_report(true); at = 0; key = 0; list = 0; ok = false }
    /* A request arrives for the next rescue. One for the last lets the same record be sent again, as the attacker may. */
    :: d_step { sensor_rescues < RESCUES && (requests_said & bit(sensor_rescues + 1)) ->
        begin_rescue(); key = 0 }
    /* A rescue record arrives. */
    :: d_step { gateway_rescues < sensor_rescues ->
        hear_rescue(gateway_rescues + 1); at = 0; key = 0; list = 0; ok = false; promoted = false }
    od
}
