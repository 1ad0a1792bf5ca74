/*
 * Restarts and resumptions of tally (docs/specification.md, "Resumption"): an end loses all but the number on its disk at any
 * moment, that number is put back from a copy of any moment before, and the attacker replays openings, answers and
 * records. Flights can't be forged; verifpal/resume.vp shows that. A nonce is a number and a random half, which is
 * another each time: what the chance of 2^-32 is that it isn't, docs/risk.md says. A root is the pair of both
 * sides' nonces, or the answer by which it came about.
 *
 * Claimed: no counter of a root is sealed twice, none is released twice, a replayed opening doesn't take the root away
 * that both ends use, and no answer is given below a root that a record confirmed.
 */
#define NUMBERS  3  /* of the sensor, 1 to 3, and of the gateway */
#define STARTS   3  /* nonces of the sensor */
#define ANSWERS  3  /* answers of the gateway, each with a nonce of its own */
#define COUNTERS 2
#ifndef COPIES
#define COPIES   1  /* so often a state is put back from a copy, of each side */
#endif
#define NOTHING  255

#define bit(n) (1 << (n))

/* What was sent: the number of each nonce, the nonce and the gateway's number of each answer, the records. */
byte starts, number[STARTS], answers, answered[ANSWERS], by[ANSWERS], sealed[ANSWERS];

/* The sensor: its disk, a copy of it, and what it loses. */
byte stored, copy, puts;
byte trying = NOTHING, root = NOTHING, counter;

/* The gateway: its disk, a copy, and what it loses: the root in use, the one that no record has confirmed, the window. */
byte stored_g, copy_g, puts_g;
byte in_use = NOTHING, unconfirmed = NOTHING, there;

/* What nobody in the link knows. */
byte released[ANSWERS], last = NOTHING;

inline lose() { trying = NOTHING; root = NOTHING; counter = 0 }
inline lose_g() { in_use = NOTHING; unconfirmed = NOTHING; there = 0; last = NOTHING }

/* The nonce of the number n: a new one, or where nothing is random the one of this number. */
inline begin(n) {
    s = starts;
#ifdef SENSOR_NUMBER_ALONE
    s = 0;
    do
    :: s < starts && number[s] != n -> s++
    :: else -> break
    od;
#endif
    if
    :: s < STARTS ->
        starts = (s == starts -> starts + 1 : starts);
        number[s] = n;
        trying = s
    :: else
    fi;
    s = 0
}

/* A new root of the nonce s. */
inline resume() {
    stored_g++;
    a = answers;
#ifdef GATEWAY_NUMBER_ALONE
    a = 0;
    do
    :: a < answers && !(answered[a] == s && by[a] == stored_g) -> a++
    :: else -> break
    od;
#endif
    if
    :: a < ANSWERS ->
        answers = (a == answers -> answers + 1 : answers);
        answered[a] = s;
        by[a] = stored_g;
        take()
    :: else
    fi
}

inline take() {
#ifdef AT_ONCE
    in_use = a; there = 0
#else
    unconfirmed = a
#endif
}

inline hear_opening() {
    newest = (unconfirmed == NOTHING -> in_use : unconfirmed);
    if
    :: newest == NOTHING && stored_g < NUMBERS -> resume()
    :: newest != NOTHING && number[s] > number[answered[newest]] && stored_g < NUMBERS -> resume()
#ifdef SAME_ANSWER
    :: newest != NOTHING && number[s] <= number[answered[newest]] ->
        a = 0;
        do
        :: a < answers && answered[a] != s -> a++
        :: else -> break
        od;
        if
        :: a < answers -> take()
        :: else
        fi
#else
    /* The answer of before again. */
    :: newest != NOTHING && newest == unconfirmed && s == answered[newest] -> assert(newest != last)
#endif
#ifdef BELOW_CONFIRMED
    :: newest != NOTHING && newest == in_use && s == answered[newest] -> assert(newest != last)
#endif
    :: else
    fi;
    newest = 0
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
        last = a;
#ifdef REACH
        /* Not the first nonces, but both sides' first numbers. */
        assert(!(a && by[a] == 1 && answered[a] && number[answered[a]] == 1))
#endif
    :: else
    fi
}

active proctype link() {
    byte a, s, n, newest;
    do
    /* The sensor begins: its number is on the disk before it is on the air. */
#ifdef STORED_AFTER
    :: d_step { trying == NOTHING && root == NOTHING && stored < NUMBERS -> begin(stored + 1) }
    :: d_step { trying != NOTHING && number[trying] > stored -> stored = number[trying] }
#else
    :: d_step { trying == NOTHING && root == NOTHING && stored < NUMBERS -> stored++; n = 1 }
       if
       :: d_step { begin(stored); n = 0 }
       :: d_step { lose(); n = 0 }
       fi
#endif
    :: d_step { trying != NOTHING || root != NOTHING -> lose() }
    :: d_step { copy < stored && puts < COPIES -> copy = stored }
    :: d_step { copy < stored && puts < COPIES -> stored = copy; puts++; lose() }
    /* It hears an answer to the nonce that it tries. */
    :: atomic { trying != NOTHING && answers -> select(a : 0 .. ANSWERS - 1);
        d_step {
            if
            :: a < answers && answered[a] == trying ->
                root = a; counter = 0;
#ifndef ANSWERED_TWICE
                trying = NOTHING
#endif
            :: else
            fi;
            a = 0 } }
    :: d_step { root != NOTHING && counter < COUNTERS ->
        assert(!(sealed[root] & bit(counter)));
        sealed[root] = sealed[root] | bit(counter);
        counter++ }
    /* The gateway hears an opening, or a record, or is started again. */
    :: atomic { starts -> select(s : 0 .. STARTS - 1);
        d_step {
            if
            :: s < starts -> hear_opening()
            :: else
            fi;
            a = 0; s = 0 } }
    :: atomic { answers -> select(a : 0 .. ANSWERS - 1); select(n : 0 .. COUNTERS - 1);
        d_step {
            if
            :: sealed[a] & bit(n) -> hear(n)
            :: else
            fi;
            a = 0; n = 0 } }
    :: d_step { in_use != NOTHING || unconfirmed != NOTHING -> lose_g() }
    :: d_step { copy_g < stored_g && puts_g < COPIES -> copy_g = stored_g }
    :: d_step { copy_g < stored_g && puts_g < COPIES -> stored_g = copy_g; puts_g++; lose_g() }
    :: d_step { root != NOTHING && root == last -> assert(in_use == root) }
    od
}
