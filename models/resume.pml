/*
 * Restarts and resumptions of tally (docs/tally.md, "Resumption"): the sensor loses all but a number in its flash at any
 * moment, and the attacker replays openings, answers and records. Flights can't be forged; verifpal/resume.vp shows that.
 * A root is the pair of both sides' nonces: the answer by which it came about.
 *
 * Claimed: no counter of a root is sealed twice, none is released twice, and a replayed opening doesn't take the root
 * away that both ends use.
 */
#define NUMBERS  3  /* nonces of the sensor, 1 to 3 */
#define ANSWERS  4  /* answers of the gateway, each with a nonce of its own */
#define COUNTERS 2
#define NOTHING  255

#define bit(n) (1 << (n))

/* What was sent. */
byte openings, answers, answered[ANSWERS], sealed[ANSWERS];

/* The sensor: its flash, and what it loses. */
byte stored;
byte trying, root = NOTHING, counter;

/* The gateway: the root in use, the one that no record has confirmed, and the window of each. */
byte in_use = NOTHING, unconfirmed = NOTHING, there;

/* What nobody in the link knows. */
byte released[ANSWERS], last = NOTHING;

inline lose() { trying = 0; root = NOTHING; counter = 0 }

inline answer(number) {
#ifdef SAME_ANSWER
    a = 0;
    do
    :: a < answers && answered[a] != number -> a++
    :: else -> break
    od;
#else
    a = answers;
#endif
    if
    :: a < ANSWERS ->
        answers = (a == answers -> answers + 1 : answers);
        answered[a] = number;
#ifdef AT_ONCE
        in_use = a; there = 0
#else
        unconfirmed = a
#endif
    :: else
    fi
}

inline hear(c) {
    if
    :: a == unconfirmed -> in_use = a; unconfirmed = NOTHING; there = 0
    :: else
    fi;
    if
    :: a == in_use && !(there & bit(c)) ->
        there = there | bit(c);
        assert(!(released[a] & bit(c)));
        released[a] = released[a] | bit(c);
        last = a
    :: else
    fi
}

active proctype link() {
    byte a, n;
    do
    /* The sensor begins: its number is in the flash before it is on the air. */
#ifdef STORED_AFTER
    :: d_step { !trying && root == NOTHING && stored < NUMBERS -> trying = stored + 1; openings = openings | bit(trying) }
    :: d_step { trying > stored -> stored = trying }
#else
    :: d_step { !trying && root == NOTHING && stored < NUMBERS -> stored++; n = 1 }
       if
       :: d_step { trying = stored; openings = openings | bit(stored); n = 0 }
       :: d_step { lose(); n = 0 }
       fi
#endif
    :: d_step { trying || root != NOTHING -> lose() }
    /* It hears an answer to the number that it tries. */
    :: atomic { trying && answers -> select(a : 0 .. ANSWERS - 1);
        d_step {
            if
            :: a < answers && answered[a] == trying ->
                root = a; counter = 0;
#ifndef ANSWERED_TWICE
                trying = 0
#endif
            :: else
            fi;
            a = 0 } }
    :: d_step { root != NOTHING && counter < COUNTERS ->
        assert(!(sealed[root] & bit(counter)));
        sealed[root] = sealed[root] | bit(counter);
        counter++ }
    /* The gateway hears an opening, or a record. */
    :: atomic { openings -> select(n : 1 .. NUMBERS);
        d_step {
            if
            :: openings & bit(n) -> answer(n)
            :: else
            fi;
            a = 0; n = 0 } }
    :: atomic { answers -> select(a : 0 .. ANSWERS - 1); select(n : 0 .. COUNTERS - 1);
        d_step {
            if
            :: sealed[a] & bit(n) -> hear(n)
            :: else
            fi;
            a = 0; n = 0 } }
    :: d_step { root != NOTHING && root == last -> assert(in_use == root) }
    od
}
