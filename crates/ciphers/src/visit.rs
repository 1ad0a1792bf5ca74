//! From a spec to what implements it, by static dispatch.
#![forbid(unsafe_code)]

use crate::card::Mode;
use crate::cipher::{BuiltIn, Keyed, Suite};
use crate::modes::{Cbc, Cfb, Ctr, Ecb, Ofb, Primitive};
use crate::spec::Spec;

/// What is done with the cipher that a [`Spec`] leads to.
pub trait Visitor {
    /// What the visit gives.
    type Output;

    /// Called once, with what implements `spec`.
    fn visit<S: Suite>(self, spec: &Spec, suite: S) -> Self::Output;
}

impl Spec {
    /// Keys of 128, 192 and 256 bits that are types of their own.
    #[inline]
    pub(crate) fn visit_by_key<A: Primitive, B: Primitive, C: Primitive, V: Visitor>(&self, visitor: V) -> V::Output {
        match self.key_bits {
            128 => self.visit_mode::<A, V>(visitor),
            192 => self.visit_mode::<B, V>(visitor),
            _ => self.visit_mode::<C, V>(visitor),
        }
    }

    /// Keys of 128 and 256 bits that make two types, each a cipher by itself.
    #[inline]
    pub(crate) fn visit_by_two_keys<A: BuiltIn, B: BuiltIn, V: Visitor>(&self, visitor: V) -> V::Output {
        match self.key_bits {
            128 => self.visit_built_in::<A, V>(visitor),
            _ => self.visit_built_in::<B, V>(visitor),
        }
    }

    /// The primitive in the mode of the card.
    #[inline]
    pub(crate) fn visit_mode<P: Primitive, V: Visitor>(&self, visitor: V) -> V::Output {
        match self.card.mode {
            Mode::Ecb => self.visit_built_in::<Ecb<P>, V>(visitor),
            Mode::Cbc => self.visit_built_in::<Cbc<P>, V>(visitor),
            Mode::Cfb => self.visit_built_in::<Cfb<P>, V>(visitor),
            Mode::Ofb => self.visit_built_in::<Ofb<P>, V>(visitor),
            _ => self.visit_built_in::<Ctr<P>, V>(visitor),
        }
    }

    /// What is a cipher by itself.
    #[inline]
    pub(crate) fn visit_built_in<C: BuiltIn, V: Visitor>(&self, visitor: V) -> V::Output {
        visitor.visit(self, Keyed::<C>::of(self))
    }
}

/// A family's codes where each is one type: `Name => visit::<Type>`, the visit one of [`Spec`]'s.
macro_rules! ways {
    ($($(#[cfg($gate:meta)])? $way:ident => $visit:ident::<$($of:ty),+>),+ $(,)?) => {
        impl Way {
            #[inline]
            pub(crate) fn visit<V: $crate::visit::Visitor>(self, spec: &$crate::Spec, visitor: V) -> V::Output {
                match self {
                    $($(#[cfg($gate)])? Self::$way => spec.$visit::<$($of),+, V>(visitor)),+
                }
            }
        }
    };
}
pub(crate) use ways;
