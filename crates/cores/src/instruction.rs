//! What a pipeline must know of an instruction, whatever its instruction set.

/// A set of registers: bits 0 to 31 are the integer registers, [`Registers::FLAGS`] the condition flags.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Registers(pub u64);

impl Registers {
    /// No register.
    pub const NONE: Self = Self(0);
    /// The condition flags of an Arm core.
    pub const FLAGS: Self = Self(1 << 32);
    /// The program counter of an Arm core.
    pub const PC: Self = Self(1 << 15);

    /// The set of one register.
    #[must_use]
    pub const fn of(register: u32) -> Self {
        Self(1 << (register & 31))
    }

    /// Both sets.
    #[must_use]
    pub const fn and(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// This set where `is_in`, else none.
    #[must_use]
    pub const fn when(self, is_in: bool) -> Self {
        if is_in { self } else { Self::NONE }
    }

    /// Whether the sets share a register.
    #[must_use]
    pub const fn meets(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }

    /// This set without the other's.
    #[must_use]
    pub const fn without(self, other: Self) -> Self {
        Self(self.0 & !other.0)
    }

    /// How many.
    #[must_use]
    pub const fn count(self) -> u32 {
        self.0.count_ones()
    }

    /// Their numbers, rising.
    pub fn numbers(self) -> impl Iterator<Item = usize> {
        (0..33).filter(move |number| self.0 >> number & 1 == 1)
    }
}

/// The class that counts are reported by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Class {
    /// Adds, logic, shifts, moves, bit fields, byte orders, parallel adds.
    Arithmetic,
    /// Multiplications, with or without a sum.
    Multiply,
    /// Divisions and remainders.
    Divide,
    /// A load of one register, or of two by `ldrd`.
    Load,
    /// `ldm` and `pop`.
    LoadMultiple,
    /// A store of one register, or of two by `strd`.
    Store,
    /// `stm` and `push`.
    StoreMultiple,
    /// All that may change the program counter, but for loads into it.
    Branch,
    /// Barriers, special registers, hints, `it`, `nop`.
    System,
    /// The floating-point unit and coprocessors.
    Float,
}

impl Class {
    /// The word of the records.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Arithmetic => "arithmetic",
            Self::Multiply => "multiply",
            Self::Divide => "divide",
            Self::Load => "load",
            Self::LoadMultiple => "load_multiple",
            Self::Store => "store",
            Self::StoreMultiple => "store_multiple",
            Self::Branch => "branch",
            Self::System => "system",
            Self::Float => "float",
        }
    }
}

/// What distinguishes instructions of a class for a pipeline.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Form {
    /// Nothing does.
    #[default]
    Plain,
    /// `nop`, and hints that act as one.
    Nop,
    /// `it`.
    IfThen,
    /// A barrier, or an access to a special register.
    Special,
    /// An operand shifted by a constant: `add r0, r1, r2, lsl #3`.
    ShiftedRegister,
    /// An 8-bit constant moved to another place of the word: `#0x1fc0`.
    ShiftedConstant,
    /// An addition of an extended byte or halfword: `uxtab`.
    ExtendAdd,
    /// Saturating and parallel additions, packing, `sel`, sums of differences.
    Parallel,
    /// A product of 32 bits.
    Product,
    /// A product of 32 bits added to or taken from a register.
    ProductSum,
    /// A product of 64 bits.
    LongProduct,
    /// A product of 64 bits added to registers.
    LongProductSum,
    /// A product's upper half, where an instruction gives that alone (`mulh`).
    UpperProduct,
    /// A word, or two by `ldrd` and `strd`: see [`Instruction::transfers`].
    Word,
    /// A byte or a halfword.
    Narrow,
    /// A load relative to the program counter.
    Literal,
    /// A branch on a condition.
    Conditional,
    /// A branch to an address that is in the instruction.
    Direct,
    /// A call of an address that is in the instruction.
    Call,
    /// A branch to an address in a register.
    Indirect,
    /// A call of an address in a register.
    IndirectCall,
    /// `tbb`, `tbh`.
    Table,
}

/// One decoded instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Instruction {
    /// Where it stands.
    pub address: u32,
    /// 2 or 4 bytes.
    pub length_B: u8,
    /// What counts are reported by.
    pub class: Class,
    /// What distinguishes it within its class.
    pub form: Form,
    /// Registers of memory transfers (of `ldm`, `stm`, `ldrd`); 0 elsewhere.
    pub transfers: u8,
    /// Registers that it reads, addresses and flags among them.
    pub reads: Registers,
    /// Of these, what makes an address.
    pub address_reads: Registers,
    /// Of these, what is only added at the end: a sum's third operand.
    pub sum_reads: Registers,
    /// Registers that it writes.
    pub writes: Registers,
    /// The base register where it is written back.
    pub write_back: Registers,
    /// Whether the address is a sum of two registers.
    pub has_register_offset: bool,
}

impl Instruction {
    /// An instruction that reads and writes nothing yet.
    #[must_use]
    pub const fn new(address: u32, length_B: u8, class: Class, form: Form) -> Self {
        let none = Registers::NONE;
        Self {
            address,
            length_B,
            class,
            form,
            transfers: 0,
            reads: none,
            address_reads: none,
            sum_reads: none,
            writes: none,
            write_back: none,
            has_register_offset: false,
        }
    }

    /// Whether it takes 4 bytes.
    #[must_use]
    pub const fn is_wide(&self) -> bool {
        self.length_B == 4
    }

    /// Whether it takes 4 bytes and does not begin on a word.
    #[must_use]
    pub const fn is_unaligned_wide(&self) -> bool {
        self.length_B == 4 && self.address & 2 != 0
    }

    /// Where the next one stands if this doesn't branch.
    #[must_use]
    pub const fn next_address(&self) -> u32 {
        self.address.wrapping_add(self.length_B as u32)
    }

    /// Whether an Arm core's program counter is loaded by it.
    #[must_use]
    pub const fn loads_pc(&self) -> bool {
        matches!(self.class, Class::Load | Class::LoadMultiple) && self.writes.meets(Registers::PC)
    }
}
